// A scene is the drawing with its indexes. Its horizontal axis are states:
// state 0 is what was there before the first event, state k what event k left.
// A block is in use from start up to end.
const bucketBits = 6; // states of a bucket of the totals: 64
const mostListed = 8 << 20; // entries of all lists of live blocks
const leastBlock = 512;

function newScene(buffer) {
  const { head, columns } = decodeScene(buffer);
  const s = { head, states: head.states, blocks: columns.start.length, start: columns.start, shape: columns.shape, addr: columns.addr };
  s.end = columns.life; // in place: a life of 0 lasts to the end
  for (let b = 0; b < s.blocks; b++) s.end[b] = s.end[b] ? s.start[b] + s.end[b] : s.states;
  readShapes(s, columns);
  readStacks(s, columns);
  readSegments(s, columns);
  s.times = columns.time;
  s.stride = head.stride;
  indexEvents(s);
  indexTotals(s);
  indexLive(s);
  indexLong(s);
  rankLines(s);
  return s;
}

function readShapes(s, c) {
  s.requested = c.requested;
  s.site = c.site;
  s.category = c.category;
  s.stream = c.stream;
  s.module = c.module;
  s.bytes = c.requested.map((r) => Math.ceil(Math.max(r, 1) / leastBlock) * leastBlock);
}

// readStacks keeps stacks as ranges of frame numbers; stack 0 is unknown.
function readStacks(s, c) {
  s.stackEnds = new Uint32Array(c.stackDepth.length + 1);
  for (let i = 0; i < c.stackDepth.length; i++) s.stackEnds[i + 1] = s.stackEnds[i] + c.stackDepth[i];
  s.stackFrames = c.stackFrames;
  s.stackLine = new Uint32Array(c.stackDepth.length + 1);
  s.stackLine.set(c.stackLine, 1);
  s.frameName = c.frameName;
  s.frameFile = c.frameFile;
  s.frameLine = c.frameLine;
  s.frameDull = c.frameDull;
  s.line = Uint32Array.from(s.site, (site) => s.stackLine[site]); // by shape
}

// framesOf returns the frames of a stack, innermost first.
function framesOf(s, site) {
  const out = [];
  if (!site) return out;
  for (let i = s.stackEnds[site - 1]; i < s.stackEnds[site]; i++) {
    const f = s.stackFrames[i];
    out.push({ name: s.head.strings[s.frameName[f]], file: s.head.strings[s.frameFile[f]], line: s.frameLine[f], dull: s.frameDull[f] === 1 });
  }
  return out;
}

// tellingFrames are the first frames that say what was done.
function tellingFrames(s, site, most) {
  const all = framesOf(s, site);
  const out = all.filter((f) => !f.dull);
  return (out.length ? out : all).slice(0, most);
}

function frameText(f) {
  const place = f.file && f.file !== '??' ? f.file + (f.line ? ':' + f.line : '') : '';
  return f.name && place ? f.name + '  ' + place : f.name || place || 'unknown';
}

function readSegments(s, c) {
  const n = c.segmentStart.length;
  s.segments = [];
  const steps = [];
  for (let i = 0; i < n; i++) {
    const g = {
      start: c.segmentStart[i], end: c.segmentEnd[i], addr: c.segmentAddr[i], bytes: c.segmentBytes[i], small: c.segmentFlags[i] % 2 === 1,
      expandable: c.segmentFlags[i] >= 2, stream: c.segmentStream[i], site: c.segmentSite[i], pool: s.head.strings[c.segmentPool[i]],
    };
    s.segments.push(g);
    steps.push([g.start, g.bytes]);
    if (g.end < s.states) steps.push([g.end, -g.bytes]);
  }
  s.reserved = stepsOf(steps);
}

// stepsOf sums changes up to levels: level[i] holds from state at[i] on.
function stepsOf(changes) {
  changes.sort((a, b) => a[0] - b[0]);
  const at = [];
  const level = [];
  let sum = 0;
  for (const [state, by] of changes) {
    sum += by;
    if (at.length && at[at.length - 1] === state) level[level.length - 1] = sum;
    else {
      at.push(state);
      level.push(sum);
    }
  }
  return { at, level };
}

// before returns the index of the last value at or before x, -1 for none. The
// values ascend.
function before(values, x) {
  let low = -1;
  let high = values.length;
  while (low + 1 < high) {
    const mid = (low + high) >> 1;
    if (values[mid] <= x) low = mid;
    else high = mid;
  }
  return low;
}

// highestStep is the highest level in the states from a up to b.
function highestStep(steps, a, b) {
  let i = Math.max(before(steps.at, a), 0);
  let most = steps.at.length && steps.at[i] <= a ? steps.level[i] : 0;
  for (i++; i < steps.at.length && steps.at[i] < b; i++) if (steps.level[i] > most) most = steps.level[i];
  return most;
}

function levelAt(steps, state) {
  const i = before(steps.at, state);
  return i < 0 ? 0 : steps.level[i];
}

// indexEvents tells which block each state begins (+) or ends (-), plus one.
function indexEvents(s) {
  s.events = new Int32Array(s.states + 1);
  for (let b = 0; b < s.blocks; b++) {
    if (s.start[b] > 0) s.events[s.start[b]] = b + 1;
    if (s.end[b] < s.states) s.events[s.end[b]] = -(b + 1);
  }
}

// indexTotals keeps for each bucket of states what is allocated before it, its
// highest and lowest level, and where the highest is.
function indexTotals(s) {
  const n = (s.states + (1 << bucketBits) - 1) >> bucketBits;
  s.bucketBase = new Float64Array(n + 1);
  s.bucketMost = new Float64Array(n);
  s.bucketLeast = new Float64Array(n);
  s.bucketAt = new Uint32Array(n);
  let now = 0;
  let live = 0;
  for (; live < s.blocks && s.start[live] === 0; live++) now += s.bytes[s.shape[live]];
  s.mostLive = live;
  for (let k = 0; k < n; k++) {
    s.bucketBase[k] = now;
    const first = k << bucketBits;
    const last = Math.min(first + (1 << bucketBits), s.states);
    let most = -1;
    let least = Infinity;
    let at = first;
    for (let i = first; i < last; i++) {
      now += changeAt(s, i);
      live += Math.sign(s.events[i]);
      if (now > most) {
        most = now;
        at = i;
      }
      if (now < least) least = now;
    }
    if (live > s.mostLive) s.mostLive = live;
    s.bucketMost[k] = most;
    s.bucketLeast[k] = least;
    s.bucketAt[k] = at;
  }
}

function changeAt(s, state) {
  const e = s.events[state];
  if (e > 0) return s.bytes[s.shape[e - 1]];
  if (e < 0) return -s.bytes[s.shape[-e - 1]];
  return 0;
}

function totalAt(s, state) {
  const k = state >> bucketBits;
  let now = s.bucketBase[k];
  for (let i = k << bucketBits; i <= state; i++) now += changeAt(s, i);
  return now;
}

// extremes returns the highest and lowest total of the states from a up to b,
// and where the highest is.
function extremes(s, a, b) {
  const out = { most: -1, least: Infinity, at: a };
  const walk = (from, to) => {
    if (from >= to) return;
    let now = totalAt(s, from);
    for (let i = from; ; ) {
      if (now > out.most) {
        out.most = now;
        out.at = i;
      }
      if (now < out.least) out.least = now;
      if (++i >= to) break;
      now += changeAt(s, i);
    }
  };
  const first = (a + (1 << bucketBits) - 1) >> bucketBits;
  const last = b >> bucketBits;
  if (first >= last) {
    walk(a, b);
    return out;
  }
  walk(a, first << bucketBits);
  for (let k = first; k < last; k++) {
    if (s.bucketMost[k] > out.most) {
      out.most = s.bucketMost[k];
      out.at = s.bucketAt[k];
    }
    if (s.bucketLeast[k] < out.least) out.least = s.bucketLeast[k];
  }
  walk(last << bucketBits, b);
  return out;
}

// firstFrom is the first block that starts at a state or later.
function firstFrom(s, state) {
  let low = 0;
  let high = s.blocks;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (s.start[mid] < state) low = mid + 1;
    else high = mid;
  }
  return low;
}

// indexLive lists the live blocks every so many states, so that those of any
// state are found by looking at few.
function indexLive(s) {
  s.liveBits = 13;
  while ((s.states >> s.liveBits) * s.mostLive > mostListed) s.liveBits++;
  const n = ((s.states - 1) >> s.liveBits) + 1;
  s.liveLists = [];
  let live = [];
  let next = 0;
  for (let k = 0; k < n; k++) {
    const state = k << s.liveBits;
    live = live.filter((b) => s.end[b] > state);
    for (; next < s.blocks && s.start[next] <= state; next++) if (s.end[next] > state) live.push(next);
    s.liveLists.push(Uint32Array.from(live));
  }
}

// eachLive calls f with the blocks in use in a state, by id.
function eachLive(s, state, f) {
  const k = state >> s.liveBits;
  const list = s.liveLists[k];
  for (let i = 0; i < list.length; i++) if (s.end[list[i]] > state) f(list[i]);
  for (let b = firstFrom(s, (k << s.liveBits) + 1); b < s.blocks && s.start[b] <= state; b++) if (s.end[b] > state) f(b);
}

// indexLong lists the blocks that live for at least so many states: 64, 256,
// 1,024 and so on. A wide view draws no shorter ones, and looks at no others.
function indexLong(s) {
  s.long = [null];
  let from = null;
  for (let least = 64; least < s.states; least *= 4) {
    const out = [];
    const n = from ? from.length : s.blocks;
    for (let i = 0; i < n; i++) {
      const b = from ? from[i] : i;
      if (s.end[b] - s.start[b] >= least) out.push(b);
    }
    from = Uint32Array.from(out);
    s.long.push(from);
    if (from.length < 1000) break;
  }
}

// longFor is the list of the blocks that live for at least so many states;
// null is all of them.
function longFor(s, least) {
  let level = 0;
  for (let l = 64; level + 1 < s.long.length && l <= least; l *= 4) level++;
  return s.long[level];
}

// rankLines orders the lines of the program by what they hold at the peak,
// so that the largest have colours of their own wherever they are drawn.
function rankLines(s) {
  s.peak = extremes(s, 0, s.states).at;
  const held = new Float64Array(s.head.lines.length);
  eachLive(s, s.peak, (b) => {
    held[s.line[s.shape[b]]] += s.bytes[s.shape[b]];
  });
  held[0] = -1; // blocks without a stack are grey
  const order = [...held.keys()].sort((a, b) => held[b] - held[a] || a - b);
  s.lineRank = new Uint32Array(held.length);
  order.forEach((line, rank) => (s.lineRank[line] = rank));
}

// timeOf is when a state began, in microseconds after the first event.
function timeOf(s, state) {
  if (!s.stride || !s.times.length) return 0;
  const i = Math.max(state - 1, 0) / s.stride;
  const k = Math.min(Math.floor(i), s.times.length - 1);
  const next = Math.min(k + 1, s.times.length - 1);
  return s.times[k] + (s.times[next] - s.times[k]) * (i - k);
}

// stateAt is the last state that had begun at a time.
function stateAt(s, us) {
  let low = 0;
  let high = s.states;
  while (low + 1 < high) {
    const mid = (low + high) >> 1;
    if (timeOf(s, mid) <= us) low = mid;
    else high = mid;
  }
  return low;
}
