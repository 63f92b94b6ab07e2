// The page's data, undone from differences and stacked. A moment is an index
// into the samples; what was live at sample i stays so until sample i+1.
function undo(deltas) {
  const out = new Float64Array(deltas.length);
  let sum = 0;
  for (let i = 0; i < deltas.length; i++) out[i] = sum += deltas[i];
  return out;
}

// stack returns the layers with what they are stacked on. The context lies
// at the bottom; what the layers leave of the allocated bytes is rounding.
function stack(timeline, view) {
  const n = timeline.events.length;
  const layers = [];
  let top = new Float64Array(n);
  const push = (name, note, key, bytes) => {
    const base = top;
    top = base.map((b, i) => b + bytes[i]);
    layers.push({ name, note: note || '', key, bytes, base, top, text: (name + ' ' + (note || '')).toLowerCase() });
  };
  if (timeline.context > 0) {
    push('CUDA context', 'outside of the allocator', 'context', new Float64Array(n).fill(timeline.context));
  }
  for (const l of view.layers) push(l.name, l.note, l.key, undo(l.bytes));
  if (timeline.allocated.length) {
    const rest = timeline.allocated.map((a, i) => Math.max(0, a + timeline.context - top[i]));
    if (rest.some((r) => r > 0)) push('rounding', 'what the allocator adds to each request', 'rounding', rest);
  }
  return layers;
}

function decode(raw) {
  const t = { ...raw, events: undo(raw.events), times: undo(raw.times), allocated: undo(raw.allocated), reserved: undo(raw.reserved) };
  t.count = t.events.length;
  t.device = t.allocated.map((a, i) => Math.max(a, t.reserved.length ? t.reserved[i] : a) + t.context);
  t.most = t.device.reduce((a, b) => Math.max(a, b), 0);
  if (!t.views.length) t.views = [{ name: 'in all', layers: [] }];
  const stacks = [];
  t.stackOf = (v) => stacks[v] || (stacks[v] = stack(t, t.views[v]));
  const peak = t.marks.find((m) => m.kind === 'peak');
  t.peak = peak ? sampleAt(t.events, peak.event) : t.allocated.reduce((best, a, i) => (a > t.allocated[best] ? i : best), 0);
  return t;
}

// sampleAt returns the last sample at or before x, 0 when there is none.
function sampleAt(xs, x) {
  let low = 0;
  let high = xs.length;
  while (low + 1 < high) {
    const mid = (low + high) >> 1;
    if (xs[mid] <= x) low = mid;
    else high = mid;
  }
  return low;
}

// An axis maps samples and events to places on the horizontal axis.
function axisOf(t, name) {
  if (name === 'time' && t.times.length) {
    const xs = t.times.map((us) => us / 1e6);
    const at = (event) => {
      const i = sampleAt(t.events, event);
      if (i + 1 >= t.count) return xs[i];
      const part = (event - t.events[i]) / (t.events[i + 1] - t.events[i]);
      return xs[i] + Math.min(Math.max(part, 0), 1) * (xs[i + 1] - xs[i]);
    };
    const end = xs[t.count - 1] + (xs[t.count - 1] - xs[0]) / 1000 + 1e-6;
    return { name, xs, at, from: xs[0], to: end, label: (x) => formatSeconds(x, end - xs[0]), least: (end - xs[0]) / 1e5 + 1e-6, tick: 0 };
  }
  const xs = t.events;
  const end = xs[t.count - 1] + 1;
  return { name: 'events', xs, at: (event) => event, from: xs[0], to: end, label: grouped, least: Math.min(8, end - xs[0]), tick: 1 };
}

function formatSeconds(x, span) {
  return x.toFixed(span > 20 ? 0 : span > 2 ? 1 : span > 0.2 ? 2 : 4) + ' s';
}

// bandsAt names the step, phase and module of an event.
function bandsAt(t, event) {
  return t.bands.filter((b) => b.from <= event && event < b.to).map((b) => b.name);
}
