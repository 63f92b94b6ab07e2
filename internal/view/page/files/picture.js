// A picture is what one view shows, worked out once for a zoom and then only
// painted.
const margin = { left: 68, right: 12, top: 24, axis: 23, gap: 9 };
const bandRow = 15;

function newView(s) {
  const axis = newAxis(s, 'events');
  return {
    s, axis, from: axis.from, to: axis.to, mode: 'blocks', fit: false, pin: s.head.ooms.length ? s.head.ooms.at(-1).state : s.peak, hover: null, pointed: -1, layer: null,
    block: -1, query: '', found: null, replay: null, list: 'line', order: 'by address', brush: null,
  };
}

function bandRows(s) {
  const rows = [];
  for (const b of s.head.bands) {
    const name = b.kind + (b.row ? ' ' + b.row : '');
    if (!rows.some((r) => r.name === name)) rows.push({ name, kind: b.kind, row: b.row, bands: s.head.bands.filter((x) => x.kind === b.kind && x.row === b.row) });
  }
  return rows.slice(0, 5);
}

// drawUp works out the picture of a view for a canvas of a size.
function drawUp(v, width, height) {
  const s = v.s;
  const rows = s.bandRows || (s.bandRows = bandRows(s));
  const box = { left: margin.left, right: width - margin.right, top: margin.top, bottom: height - margin.axis - (rows.length ? margin.gap + rows.length * bandRow : 0), rows, width, height };
  const count = Math.max(Math.floor(box.right - box.left), 10);
  const p = { box, columns: columnsOf(s, v, count), mode: v.mode };
  p.samples = samplesOf(s, p.columns);
  p.reserved = s.segments.length ? Float64Array.from({ length: count }, (_, c) => highestStep(s.reserved, p.columns[c], Math.max(p.columns[c + 1], p.columns[c] + 1))) : null;
  if (v.replay) p.replayed = Float64Array.from({ length: count }, (_, c) => highestStep(v.replay.reserved, p.columns[c], Math.max(p.columns[c + 1], p.columns[c] + 1)));
  if (v.mode === 'blocks') {
    p.chosen = chooseBlocks(s, v, p.columns[0], p.columns[count], count);
    p.edges = stackBlocks(s, p.chosen, p.columns);
  } else {
    const samples = paired(s, p.samples, p.columns);
    p.layers = cutLayers(s, cuts[v.mode], samples);
    if (v.found) p.found = foundCurve(s, v.found, samples);
  }
  scale(v, p);
  return p;
}

// scale sets the vertical axis: from zero, or around what changes in the view.
function scale(v, p) {
  let most = 1;
  let least = Infinity;
  for (let c = 0; c < p.samples.most.length; c++) {
    if (p.samples.most[c] > most) most = p.samples.most[c];
    if (p.samples.least[c] < least) least = p.samples.least[c];
  }
  if (v.fit) {
    const room = Math.max((most - least) * 0.06, most * 1e-6, 1);
    p.low = Math.max(0, least - room);
    p.high = most + room;
  } else {
    if (p.reserved) most = p.reserved.reduce((a, b) => Math.max(a, b), most);
    if (p.replayed) most = p.replayed.reduce((a, b) => Math.max(a, b), most);
    p.low = 0;
    p.high = most * 1.05;
  }
  const { box } = p;
  const per = (box.bottom - box.top) / (p.high - p.low);
  p.y = (bytes) => box.bottom - (bytes - p.low) * per;
  p.bytes = (y) => p.low + (box.bottom - y) / per;
  p.x = (state) => box.left + ((v.axis.at(state) - v.from) / (v.to - v.from)) * (box.right - box.left);
  p.value = (x) => v.from + ((x - box.left) / (box.right - box.left)) * (v.to - v.from);
}

// show moves the view, within the axis and not closer than its least.
function show(v, from, to) {
  const { axis } = v;
  const span = Math.min(Math.max(to - from, axis.least), axis.to - axis.from);
  let start = from + (to - from - span) / 2;
  start = Math.min(Math.max(start, axis.from), axis.to - span);
  v.from = start;
  v.to = start + span;
}

function zoom(v, factor, at) {
  show(v, at - (at - v.from) * factor, at + (v.to - at) * factor);
}

function pan(v, share) {
  const by = share * (v.to - v.from);
  show(v, v.from + by, v.to + by);
}

function pin(v, state) {
  v.pin = Math.min(Math.max(Math.round(state), 0), v.s.states - 1);
  const x = v.axis.at(v.pin);
  if (x < v.from) show(v, x - (v.to - v.from) * 0.1, x + (v.to - v.from) * 0.9);
  else if (x > v.to) show(v, x - (v.to - v.from) * 0.9, x + (v.to - v.from) * 0.1);
}

function chooseAxis(v, name) {
  const states = [v.axis.state(v.from), v.axis.state(v.to)];
  const whole = v.from <= v.axis.from && v.to >= v.axis.to;
  v.axis = newAxis(v.s, name);
  if (whole) show(v, v.axis.from, v.axis.to);
  else show(v, v.axis.at(states[0]), v.axis.at(states[1]));
}

// under tells what lies under a point of the chart.
function under(v, p, x, y) {
  const { box } = p;
  if (x < box.left || x > box.right || y > box.height) return null;
  const state = Math.min(Math.max(v.axis.state(p.value(x)), 0), v.s.states - 1);
  const column = Math.min(Math.max(Math.floor(x - box.left), 0), p.samples.state.length - 1);
  const hit = { state, column, block: -1, layer: null, rest: false, band: null };
  if (y > box.bottom) {
    const row = box.rows[Math.floor((y - box.bottom - margin.gap) / bandRow)];
    hit.band = (row && row.bands.find((b) => b.from <= state && state < b.to)) || null;
    return hit;
  }
  const bytes = p.bytes(y);
  if (p.mode === 'blocks') {
    const at = p.samples.state[column];
    let found = blockAt(v.s, p.chosen, at, bytes);
    if (found.block < 0) found = blockAt(v.s, p.chosen, state, bytes);
    hit.block = found.block;
    hit.rest = found.block < 0 && bytes < p.samples.most[column];
  } else {
    let sum = 0;
    for (const l of p.layers) {
      sum += l.bytes[column];
      if (bytes < sum) {
        hit.layer = l;
        break;
      }
    }
  }
  return hit;
}
