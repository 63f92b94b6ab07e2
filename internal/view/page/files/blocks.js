// Which blocks a view draws one by one, and where. The largest areas are
// chosen; what is left lies as one band on top, so that the outline is that of
// everything.
const mostDrawn = 3000;

// chooseBlocks returns the blocks to draw by id: of all that live for at least
// half a pixel in the view the ones with the largest area.
function chooseBlocks(s, v, first, last, width) {
  const least = v.axis.name === 'events' ? ((last - first) / width) * 0.5 : 0;
  const list = s.blocks > 1e6 || least > 1 ? longFor(s, least || ((last - first) / width) * 0.5) : null;
  const ids = [];
  const areas = [];
  const scale = width / (v.to - v.from);
  const consider = (b) => {
    const from = Math.max(s.start[b], first);
    const to = Math.min(s.end[b], last);
    const px = (v.axis.at(to) - v.axis.at(from)) * scale;
    if (px < 0.5) return;
    ids.push(b);
    areas.push(s.bytes[s.shape[b]] * Math.max(px, 2));
  };
  eachLive(s, first, consider);
  if (list) {
    let i = lowest(list, s.start, first + 1);
    for (; i < list.length && s.start[list[i]] < last; i++) consider(list[i]);
  } else {
    for (let b = firstFrom(s, first + 1); b < s.blocks && s.start[b] < last; b++) consider(b);
  }
  const out = largestOf(ids, areas, mostDrawn);
  out.sort((a, b) => a - b);
  return Uint32Array.from(out);
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

// largestOf keeps the ids with the largest weights, about so many: it counts
// weights in classes an eighth of a doubling wide and cuts between two.
function largestOf(ids, weights, most) {
  if (ids.length <= most) return ids.slice();
  const classes = new Uint32Array(1024);
  const classOf = (w) => Math.min(Math.floor(Math.log2(w + 1) * 8), 1023);
  for (const w of weights) classes[classOf(w)]++;
  let cut = 1023;
  for (let n = classes[cut]; cut > 0 && n + classes[cut - 1] <= most; cut--) n += classes[cut - 1];
  const out = ids.filter((_, i) => classOf(weights[i]) >= cut);
  if (out.length >= most / 2) return out.slice(0, most);
  const edge = ids.filter((_, i) => classOf(weights[i]) === cut - 1); // one class holds them all
  return out.concat(edge.slice(0, most - out.length));
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
