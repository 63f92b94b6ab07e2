// Which blocks a view draws one by one, and where. The largest areas are
// chosen; what is left lies as one band on top, so that the outline is that of
// everything.
const mostDrawn = 3000;

// chooseBlocks returns the blocks to draw by id: of all that live for at least
// half a pixel in the view the ones with the largest area.
function chooseBlocks(s, v, first, last, width) {
  const even = v.axis.name === 'events';
  const least = ((last - first) / width) * 0.5;
  const list = s.blocks > 1e6 || (even && least > 1) ? longFor(s, least) : null;
  const scale = width / (v.to - v.from);
  const found = { ids: [], classes: [] };
  const consider = (b) => {
    const from = s.start[b] > first ? s.start[b] : first;
    const to = s.end[b] < last ? s.end[b] : last;
    const px = (even ? to - from : v.axis.at(to) - v.axis.at(from)) * scale;
    if (px < 0.5) return;
    found.ids.push(b);
    found.classes.push(weightClass(s.bytes[s.shape[b]] * (px > 2 ? px : 2)));
  };
  eachLive(s, first, consider);
  if (list) {
    let i = lowest(list, s.start, first + 1);
    for (; i < list.length && s.start[list[i]] < last; i++) consider(list[i]);
  } else {
    for (let b = firstFrom(s, first + 1); b < s.blocks && s.start[b] < last; b++) consider(b);
  }
  return Uint32Array.from(largestOf(found.ids, found.classes, mostDrawn)).sort();
}

// weightClass numbers weights in classes an eighth of a doubling wide: the
// exponent of the number and the first three bits behind it.
const weightFloat = new Float32Array(1);
const weightBits = new Uint32Array(weightFloat.buffer);
const weightClasses = 4096;

function weightClass(w) {
  weightFloat[0] = w;
  return weightBits[0] >>> 20;
}

// lowest is the first index of list whose block starts at a state or later.
function lowest(list, start, state) {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (start[list[mid]] < state) low = mid + 1;
    else high = mid;
  }
  return low;
}

// largestOf keeps the ids of the highest classes, about so many.
function largestOf(ids, classes, most) {
  if (ids.length <= most) return ids;
  const counts = new Uint32Array(weightClasses);
  for (let i = 0; i < classes.length; i++) counts[classes[i]]++;
  let cut = weightClasses - 1;
  for (let n = counts[cut]; cut > 0 && n + counts[cut - 1] <= most; cut--) n += counts[cut - 1];
  const out = [];
  const edge = []; // the first class that does not fit as a whole
  for (let i = 0; i < ids.length; i++) {
    if (classes[i] >= cut) out.push(ids[i]);
    else if (classes[i] === cut - 1 && edge.length < most) edge.push(ids[i]);
  }
  return out.length >= most / 2 ? out.slice(0, most) : out.concat(edge.slice(0, most - out.length));
}

// stackBlocks lays the chosen blocks on each other in the order in which they
// were made; where one ends those above it come down. It returns for each the
// corners of its lower edge: x, y, x, y ... with x in columns and y in bytes.
function stackBlocks(s, chosen, columns) {
  const count = columns.length - 1;
  const first = columns[0];
  const last = columns[count];
  const steps = [];
  for (let i = 0; i < chosen.length; i++) {
    const b = chosen[i];
    if (s.end[b] < last) steps.push([s.end[b], i, 0]);
    if (s.start[b] > first) steps.push([s.start[b], i, 1]);
  }
  steps.sort((a, b) => a[0] - b[0] || a[2] - b[2]);
  const edges = chosen.length ? Array.from(chosen, () => []) : [];
  const order = [];
  const lower = new Float64Array(chosen.length);
  let top = 0;
  const size = (i) => s.bytes[s.shape[chosen[i]]];
  const begin = (i, x) => {
    lower[i] = top;
    edges[i].push(x, top);
    order.push(i);
    top += size(i);
  };
  for (let i = 0; i < chosen.length && s.start[chosen[i]] <= first; i++) begin(i, 0);
  let dirty = Infinity;
  const settle = (x) => {
    if (dirty >= order.length) {
      dirty = Infinity;
      return;
    }
    let y = dirty > 0 ? lower[order[dirty - 1]] + size(order[dirty - 1]) : 0;
    for (let k = dirty; k < order.length; k++) {
      const i = order[k];
      if (lower[i] !== y) {
        lower[i] = y;
        edges[i].push(x, y);
      }
      y += size(i);
    }
    dirty = Infinity;
  };
  let column = 0;
  for (const [state, i, begins] of steps) {
    let next = column;
    while (next < count && columns[next] < state && columns[next + 1] <= state) next++;
    if (next !== column) {
      settle(column);
      column = next;
    }
    if (begins) {
      settle(column);
      begin(i, column);
      continue;
    }
    const at = placeIn(order, i);
    order.splice(at, 1);
    edges[i].push(Math.max(column, edges[i][edges[i].length - 2] + 1), NaN);
    top -= size(i);
    dirty = Math.min(dirty, at);
  }
  settle(column);
  for (const i of order) edges[i].push(count, NaN);
  return edges;
}

// placeIn finds a number in an ascending list.
function placeIn(order, i) {
  let low = 0;
  let high = order.length - 1;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (order[mid] < i) low = mid + 1;
    else high = mid;
  }
  return low;
}

// blockAt returns the chosen block at a height in a state, -1 for none; base
// is where it begins.
function blockAt(s, chosen, state, bytes) {
  let y = 0;
  for (let i = 0; i < chosen.length; i++) {
    const b = chosen[i];
    if (s.start[b] > state) break;
    if (s.end[b] <= state) continue;
    const next = y + s.bytes[s.shape[b]];
    if (bytes < next) return { block: b, base: y };
    y = next;
  }
  return { block: -1, base: y };
}
