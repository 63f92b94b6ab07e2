// The state and what changes it. Every change ends in one repaint.
function newState(timelines) {
  return { timelines, t: null, v: 0, axis: null, from: 0, to: 1, pin: 0, hover: null, layer: null, cached: false, full: false, query: '', brush: null, layers: [], colors: [], box: null };
}

function chooseDevice(s, index) {
  s.t = s.timelines[index];
  s.v = Math.min(s.v, s.t.views.length - 1);
  s.full = s.t.capacity > 0 && s.t.capacity < s.t.most * 2.2;
  s.pin = s.t.peak;
  chooseAxis(s, s.axis ? s.axis.name : 'events');
  chooseView(s, s.v);
}

function chooseView(s, v) {
  s.v = v;
  s.layers = s.t.stackOf(v);
  s.colors = colorsOf(s.layers);
  s.layer = null;
}

function chooseAxis(s, name) {
  s.axis = axisOf(s.t, name);
  s.from = s.axis.from;
  s.to = s.axis.to;
}

function wholeRun(s) {
  return s.from <= s.axis.from && s.to >= s.axis.to;
}

// show sets the visible range and keeps it inside the run and not too small.
function show(s, from, to) {
  const span = Math.min(Math.max(to - from, s.axis.least), s.axis.to - s.axis.from);
  const middle = (from + to) / 2;
  s.from = Math.min(Math.max(middle - span / 2, s.axis.from), s.axis.to - span);
  s.to = s.from + span;
}

function zoom(s, factor, around) {
  show(s, around - (around - s.from) * factor, around + (s.to - around) * factor);
}

function pan(s, share) {
  const by = (s.to - s.from) * share;
  show(s, s.from + by, s.to + by);
}

function pin(s, i) {
  s.pin = Math.min(Math.max(i, 0), s.t.count - 1);
  const x = s.axis.xs[s.pin];
  if (x < s.from || x > s.to) show(s, x - (s.to - s.from) / 2, x + (s.to - s.from) / 2);
}

// under returns the sample and layer under a place of the canvas: of all
// samples in the pixel the one with the most memory, since that is drawn.
function under(s, px, py) {
  const box = s.box;
  if (!box || px < box.left || px > box.right || py < box.top || py > box.height) return { sample: null, layer: null };
  let sample = sampleAt(s.axis.xs, box.unx(px));
  for (let i = sampleAt(s.axis.xs, box.unx(px - 0.5)); i < s.t.count && s.axis.xs[i] < box.unx(px + 0.5); i++) {
    if (stackedAt(s, i) > stackedAt(s, sample)) sample = i;
  }
  const bytes = box.uny(py);
  const layer = s.layers.findIndex((l) => bytes >= l.base[sample] && bytes < l.top[sample]);
  const inside = py <= box.bottom;
  const cached = inside && layer < 0 && bytes >= stackedAt(s, sample) && bytes < s.t.device[sample];
  return { sample, layer: layer < 0 || !inside ? null : layer, cached };
}
