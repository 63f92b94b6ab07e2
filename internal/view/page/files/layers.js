// Ways to cut the memory into layers. of or ofShape gives the layer of a block,
// count how many there are, text its name, colour that of its colour in the
// style sheet, and order where it lies: the highest at the bottom.
const mostLayers = 24;
const sizeNames = ['up to 1 KiB', 'to 32 KiB', 'to 1 MiB', 'to 10 MiB', 'to 100 MiB', 'to 1 GiB', 'over 1 GiB'];
const sizeEnds = [2 ** 10, 2 ** 15, 2 ** 20, 10 * 2 ** 20, 100 * 2 ** 20, 2 ** 30];
const ageNames = ['there before the range', 'made in it, there at its end', 'lived 1/20 of it or longer', 'lived shorter', 'temporary, under 50 events'];

const cuts = {
  line: {
    title: 'line', ofShape: (s, k) => s.line[k], count: (s) => s.head.lines.length, text: (s, k) => s.head.lines[k], colour: (s, k) => lineColour(s, k), order: (s, k) => (k ? -s.lineRank[k] : 1),
  },
  category: {
    title: 'category', ofShape: (s, k) => s.category[k], count: (s) => s.head.categories.length, text: (s, k) => categoryNames[s.head.categories[k]] || s.head.categories[k],
    colour: (s, k) => '--k-' + s.head.categories[k], order: (s, k) => -categoryOrder.indexOf(s.head.categories[k]),
  },
  module: {
    title: 'module', ofShape: (s, k) => s.module[k], count: (s) => s.head.modules.length, text: (s, k) => s.head.modules[k] || 'outside of modules', colour: (s, k) => '--c' + (k % 12), order: (s, k) => -k,
  },
  size: {
    title: 'size', ofShape: (s, k) => sizeClass(s.bytes[k]), count: () => sizeNames.length, text: (s, k) => sizeNames[k], colour: (s, k) => '--c' + k, order: (s, k) => k,
  },
  age: {
    title: 'life', byBlock: true, of: (s, b) => ageClass(s, b), count: () => ageNames.length, text: (s, k) => ageNames[k], colour: (s, k) => '--c' + [0, 3, 2, 5, 1][k], order: (s, k) => -k,
  },
  stream: {
    title: 'stream', ofShape: (s, k) => s.stream[k], count: (s) => s.head.streams.length, text: (s, k) => 'stream ' + s.head.streams[k], colour: (s, k) => '--c' + (k % 12), order: (s, k) => -k,
  },
};

for (const cut of Object.values(cuts)) if (!cut.of) cut.of = (s, b) => cut.ofShape(s, s.shape[b]);

const categoryOrder = ['parameter', 'master_weight', 'buffer', 'optimizer', 'gradient', 'kv_cache', 'input', 'activation', 'communication', 'workspace', 'temporary', 'unknown'];
const categoryNames = {
  unknown: 'not named', parameter: 'parameters', buffer: 'buffers', gradient: 'gradients', optimizer: 'optimizer state', master_weight: 'master weights',
  activation: 'activations', input: 'inputs', temporary: 'temporaries', workspace: 'workspaces', kv_cache: 'KV cache', communication: 'communication',
};

function sizeClass(bytes) {
  let k = 0;
  while (k < sizeEnds.length && bytes > sizeEnds[k]) k++;
  return k;
}

function ageClass(s, b) {
  if (s.start[b] === 0) return 0;
  if (s.end[b] === s.states) return 1;
  const life = s.end[b] - s.start[b];
  if (life * 20 >= s.states) return 2;
  return life < 50 ? 4 : 3;
}

// lineColour gives the lines that hold most at the peak colours of their own.
// The others share muted ones, by rank, so that neighbours differ.
function lineColour(s, line) {
  if (line === 0) return '--none'; // no stack
  const rank = s.lineRank[line];
  return rank < 12 ? '--c' + rank : '--m' + (rank % 6);
}

// usefulCuts are the cuts that tell more than one layer apart.
function usefulCuts(s) {
  return Object.keys(cuts).filter((name) => {
    if (name === 'line' || name === 'size') return true;
    if (name === 'age') return s.states > 50;
    const column = { category: s.category, module: s.module, stream: s.stream }[name];
    return column.some((v) => v !== column[0]);
  });
}

// samplesOf picks from each pixel the state in which most was allocated.
function samplesOf(s, columns) {
  const n = columns.length - 1;
  const out = { state: new Uint32Array(n), most: new Float64Array(n), least: new Float64Array(n) };
  for (let c = 0; c < n; c++) {
    const a = Math.min(columns[c], s.states - 1);
    if (c > 0 && columns[c + 1] <= a + 1 && columns[c - 1] === a) { // the same state again
      out.state[c] = out.state[c - 1];
      out.most[c] = out.most[c - 1];
      out.least[c] = out.least[c - 1];
      continue;
    }
    const e = extremes(s, a, Math.max(columns[c + 1], a + 1));
    out.state[c] = e.at;
    out.most[c] = e.most;
    out.least[c] = e.least;
  }
  return out;
}

// paired gives each two pixels the state of the higher of them. Where states
// lie so close that the blocks of each sample are counted anew, half as many
// are.
function paired(s, samples, columns) {
  const n = samples.state.length;
  if ((columns[n] - columns[0]) / n < s.mostLive + 2000) return samples;
  const state = samples.state.slice();
  for (let c = 0; c + 1 < n; c += 2) state[c] = state[c + 1] = samples.most[c] >= samples.most[c + 1] ? samples.state[c] : samples.state[c + 1];
  return { ...samples, state };
}

// eachSample calls f for each sample that shows another state than the one
// before, once add was called for all blocks that are live there since then
// (by +1) or not any more (by -1). Where samples are far apart the blocks are
// counted anew, after clear.
function eachSample(s, samples, clear, add, f) {
  let last = -1;
  for (let c = 0; c < samples.state.length; c++) {
    const state = samples.state[c];
    if (state === last) continue;
    if (last < 0 || state < last || state - last > s.mostLive + 2000) {
      clear();
      eachLive(s, state, (b) => add(b, 1));
    } else {
      for (let i = last + 1; i <= state; i++) {
        const e = s.events[i];
        if (e > 0) add(e - 1, 1);
        else if (e < 0) add(-e - 1, -1);
      }
    }
    last = state;
    f(c);
  }
}

// heldRows is an array of at least so many numbers, the same for every picture: a
// new one for each would keep the browser busy with clearing and collecting.
function heldRows(length) {
  if (!heldRows.kept || heldRows.kept.length < length) heldRows.kept = new Float64Array(length);
  return heldRows.kept;
}

// heldBySample sums the blocks of each sample by key, of so many keys: the
// bytes by sample and then by key, and the most of each key. Without rows only
// the latter. The sums hold until the next call.
function heldBySample(s, samples, keyOf, size, rows) {
  const now = new Float64Array(size);
  const most = new Float64Array(size);
  const held = rows ? heldRows(size * samples.state.length) : null;
  eachSample(s, samples, () => now.fill(0), (b, sign) => (now[keyOf(b)] += sign * s.bytes[s.shape[b]]), (c) => {
    if (held) held.set(now, c * size);
    for (let k = 0; k < size; k++) if (now[k] > most[k]) most[k] = now[k];
  });
  return { held, most };
}

// mostHeld bounds the sums of all keys in all samples that are kept at once.
const mostHeld = 4 << 20;

// cutLayers returns the layers of a view from the bottom up: their bytes in
// each sample. The largest keep a layer of their own, the rest share one.
function cutLayers(s, cut, samples) {
  const n = samples.state.length;
  const keys = cut.byBlock ? null : keysOf(s, cut);
  const keyOf = keys ? (b) => keys[s.shape[b]] : (b) => cut.of(s, b);
  const size = cut.count(s);
  const fits = size * n <= mostHeld;
  let { held, most } = heldBySample(s, samples, keyOf, size, fits);
  const all = [...most.keys()].filter((k) => most[k] > 0).sort((a, b) => most[b] - most[a]);
  const kept = all.slice(0, mostLayers).sort((a, b) => cut.order(s, b) - cut.order(s, a));
  const out = kept.map((k) => ({ key: k, name: cut.text(s, k), colour: cut.colour(s, k), bytes: new Float64Array(n), most: most[k] }));
  if (all.length > kept.length) out.push({ key: -1, name: counted(all.length - kept.length, 'smaller ' + cut.title), colour: '--other', bytes: new Float64Array(n), most: 0 });
  const place = new Uint32Array(size).fill(out.length - 1); // layer of each key
  kept.forEach((k, i) => (place[k] = i));
  let wide = size;
  if (!fits) { // once more, with the layers for keys
    held = heldBySample(s, samples, (b) => place[keyOf(b)], out.length, true).held;
    wide = out.length;
  }
  const keysHeld = Uint32Array.from(fits ? all : out.keys());
  const sum = new Float64Array(out.length);
  for (let c = 0; c < n; c++) {
    if (c === 0 || samples.state[c] !== samples.state[c - 1]) {
      sum.fill(0);
      for (let i = 0; i < keysHeld.length; i++) sum[fits ? place[keysHeld[i]] : i] += held[c * wide + keysHeld[i]];
    }
    for (let i = 0; i < out.length; i++) out[i].bytes[c] = sum[i];
  }
  if (all.length > kept.length) out[out.length - 1].most = out[out.length - 1].bytes.reduce((a, b) => Math.max(a, b), 0);
  return out;
}

// foundCurve is what the found shapes hold in each sample.
function foundCurve(s, found, samples) {
  const { held } = heldBySample(s, samples, (b) => found[s.shape[b]], 2, true);
  const out = new Float64Array(samples.state.length);
  for (let c = 0, row = 0; c < out.length; c++) {
    if (c === 0 || samples.state[c] !== samples.state[c - 1]) row = c * 2;
    out[c] = held[row + 1];
  }
  return out;
}

// keysOf gives the layer of each shape.
function keysOf(s, cut) {
  const kept = s.keys || (s.keys = new Map());
  if (!kept.has(cut)) {
    const keys = new Uint32Array(s.bytes.length);
    for (let shape = 0; shape < keys.length; shape++) keys[shape] = cut.ofShape(s, shape);
    kept.set(cut, keys);
  }
  return kept.get(cut);
}
