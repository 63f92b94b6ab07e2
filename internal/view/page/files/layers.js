// Ways to cut the memory into layers. key gives the layer of a block, text its
// name, colour the name of its colour in the style sheet.
const mostLayers = 24;
const sizeNames = ['up to 1 KiB', 'to 32 KiB', 'to 1 MiB', 'to 10 MiB', 'to 100 MiB', 'to 1 GiB', 'over 1 GiB'];
const sizeEnds = [2 ** 10, 2 ** 15, 2 ** 20, 10 * 2 ** 20, 100 * 2 ** 20, 2 ** 30];
const ageNames = ['there before the range', 'made in it, there at its end', 'lived 1/20 of it or longer', 'lived shorter', 'temporary, under 50 events'];

const cuts = {
  line: {
    title: 'line', of: (s, b) => s.line[s.shape[b]], text: (s, k) => s.head.lines[k], colour: (s, k) => lineColour(s, k), order: (s, k) => -s.lineRank[k],
  },
  category: {
    title: 'category', of: (s, b) => s.category[s.shape[b]], text: (s, k) => categoryNames[s.head.categories[k]] || s.head.categories[k],
    colour: (s, k) => '--k-' + s.head.categories[k], order: (s, k) => -categoryOrder.indexOf(s.head.categories[k]),
  },
  module: {
    title: 'module', of: (s, b) => s.module[s.shape[b]], text: (s, k) => s.head.modules[k] || 'outside of modules', colour: (s, k) => '--c' + (k % 12), order: (s, k) => -k,
  },
  size: {
    title: 'size', of: (s, b) => sizeClass(s.bytes[s.shape[b]]), text: (s, k) => sizeNames[k], colour: (s, k) => '--c' + k, order: (s, k) => k,
  },
  age: {
    title: 'life', of: (s, b) => ageClass(s, b), text: (s, k) => ageNames[k], colour: (s, k) => '--c' + [0, 3, 2, 5, 1][k], order: (s, k) => -k,
  },
  stream: {
    title: 'stream', of: (s, b) => s.stream[s.shape[b]], text: (s, k) => 'stream ' + s.head.streams[k], colour: (s, k) => '--c' + (k % 12), order: (s, k) => -k,
  },
};

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

// cutLayers returns the layers of a view from the bottom up: their bytes in
// each sample. The largest keep a layer of their own, the rest share one.
function cutLayers(s, cut, samples) {
  const n = samples.state.length;
  const now = [];
  const most = [];
  eachSample(s, samples, () => now.fill(0), (b, sign) => {
    const k = cut.of(s, b);
    if (now[k] === undefined) now[k] = most[k] = 0;
    now[k] += sign * s.bytes[s.shape[b]];
    if (now[k] > most[k]) most[k] = now[k];
  }, () => {});
  const all = [...most.keys()].filter((k) => most[k] > 0).sort((a, b) => most[b] - most[a]);
  const kept = all.slice(0, mostLayers).sort((a, b) => cut.order(s, b) - cut.order(s, a));
  const out = kept.map((k) => ({ key: k, name: cut.text(s, k), colour: cut.colour(s, k), bytes: new Float64Array(n), most: most[k] }));
  if (all.length > mostLayers) out.push({ key: -1, name: counted(all.length - mostLayers, 'smaller ' + cut.title), colour: '--other', bytes: new Float64Array(n), most: 0 });
  const place = new Int32Array(most.length).fill(out.length - 1);
  kept.forEach((k, i) => (place[k] = i));
  const sums = new Float64Array(out.length);
  eachSample(s, samples, () => sums.fill(0), (b, sign) => (sums[place[cut.of(s, b)]] += sign * s.bytes[s.shape[b]]), (c) => {
    for (let i = 0; i < out.length; i++) out[i].bytes[c] = sums[i];
  });
  for (let c = 1; c < n; c++) {
    if (samples.state[c] === samples.state[c - 1]) for (const l of out) l.bytes[c] = l.bytes[c - 1];
  }
  for (const l of out) l.most = l.bytes.reduce((a, b) => Math.max(a, b), 0);
  return out;
}
