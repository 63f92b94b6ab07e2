// Drawing: a pure function of the state, from the bottom up.
const rowHeight = 17;
const margin = { left: 66, right: 14, top: 42, axis: 22, gap: 9 };
const bandKinds = ['step', 'phase', 'module'];

function theme() {
  const style = getComputedStyle(document.documentElement);
  const get = (name) => style.getPropertyValue(name).trim();
  return { ink: get('--ink'), soft: get('--soft'), line: get('--line'), grid: get('--grid'), card: get('--card'), no: get('--no'), accent: get('--accent'), cached: get('--cached'), get };
}

// colorsOf names each layer's colour in the style sheet: by its key when
// there is one, in turn otherwise.
function colorsOf(layers) {
  const { get } = theme();
  let turn = 0;
  return layers.map((l) => (/^[a-z_]+$/.test(l.key) && get('--k-' + l.key) ? '--k-' + l.key : '--c' + (turn++ % 12)));
}

function layout(s, width, height) {
  const rows = bandKinds.filter((k) => s.t.bands.some((b) => b.kind === k));
  const bottom = height - margin.axis - rows.length * rowHeight - margin.gap;
  const box = { left: margin.left, right: width - margin.right, top: margin.top, bottom, rows, height, width };
  box.x = (v) => box.left + ((v - s.from) / (s.to - s.from)) * (box.right - box.left);
  box.unx = (px) => s.from + ((px - box.left) / (box.right - box.left)) * (s.to - s.from);
  box.high = highest(s);
  box.y = (b) => box.bottom - (b / box.high) * (box.bottom - box.top);
  box.uny = (py) => ((box.bottom - py) / (box.bottom - box.top)) * box.high;
  return box;
}

// highest is the top of the vertical axis: the most that is shown, or the
// capacity where it is near or asked for.
function highest(s) {
  const most = Math.max(s.t.most, 1) * 1.06;
  return s.full && s.t.capacity > 0 ? Math.max(most, s.t.capacity * 1.04) : most;
}

function paint(s, canvas) {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  if (!width || !height) return;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const c = canvas.getContext('2d');
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.clearRect(0, 0, width, height);
  c.font = '12px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
  const th = theme();
  const box = layout(s, width, height);
  s.box = box;
  paintGrid(c, s, box, th);
  c.save();
  c.beginPath();
  c.rect(box.left, 0, box.right - box.left, box.bottom);
  c.clip();
  paintLayers(c, s, box, th);
  paintLines(c, s, box, th);
  paintMoments(c, s, box, th);
  c.restore();
  paintBands(c, s, box, th);
}

function paintGrid(c, s, box, th) {
  c.lineWidth = 1;
  c.strokeStyle = th.grid;
  c.fillStyle = th.soft;
  c.textBaseline = 'middle';
  c.textAlign = 'right';
  for (const b of byteTicks(box.high, Math.max(3, Math.floor((box.bottom - box.top) / 56)))) {
    const y = Math.round(box.y(b)) + 0.5;
    if (y < box.top - 8) continue;
    line(c, box.left, y, box.right, y);
    c.fillText(tickLabel(b, box.high), box.left - 8, y);
  }
  c.textBaseline = 'alphabetic';
  c.textAlign = 'center';
  const room = c.measureText(s.axis.label(s.to)).width + 40;
  for (const x of ticks(s.from, s.to, Math.max(1, Math.floor((box.right - box.left) / room)), s.axis.tick)) {
    const label = s.axis.label(x);
    const half = c.measureText(label).width / 2;
    c.fillText(label, Math.min(Math.max(box.x(x), box.left + half), box.right - half), box.height - 6);
  }
}

// outline walks a layer's edge over the visible samples as steps.
function outline(s, box, edge, first, last, back) {
  const points = [];
  for (let i = first; i <= last; i++) {
    const from = box.x(s.axis.xs[i]);
    const to = box.x(i + 1 < s.t.count ? s.axis.xs[i + 1] : s.axis.to);
    const y = box.y(edge[i]);
    points.push([from, y], [to, y]);
  }
  return back ? points.reverse() : points;
}

function visible(s) {
  return [sampleAt(s.axis.xs, s.from), sampleAt(s.axis.xs, s.to)];
}

function paintLayers(c, s, box, th) {
  const [first, last] = visible(s);
  const layers = s.layers;
  if (s.t.reserved.length) {
    const edge = s.t.reserved.map((r) => r + s.t.context);
    trace(c, outline(s, box, edge, first, last).concat([[box.right, box.bottom], [box.left, box.bottom]]));
    c.fillStyle = th.cached;
    c.fill();
  }
  layers.forEach((l, k) => {
    if (!some(l.bytes, first, last)) return;
    trace(c, outline(s, box, l.top, first, last).concat(outline(s, box, l.base, first, last, true)));
    c.globalAlpha = dimmed(s, k) ? 0.22 : 1;
    c.fillStyle = th.get(s.colors[k]);
    c.fill();
    if (k > 0) {
      trace(c, outline(s, box, l.base, first, last));
      c.globalAlpha = 0.55;
      c.strokeStyle = th.card;
      c.lineWidth = 0.7;
      c.stroke();
    }
    c.globalAlpha = 1;
  });
}

function some(bytes, first, last) {
  for (let i = first; i <= last; i++) if (bytes[i] > 0) return true;
  return false;
}

// dimmed reports whether another layer is the one looked at.
function dimmed(s, k) {
  if (s.layer !== null) return s.layer !== k;
  return s.query !== '' && !s.layers[k].text.includes(s.query);
}

function paintLines(c, s, box, th) {
  const [first, last] = visible(s);
  if (s.t.reserved.length) {
    trace(c, outline(s, box, s.t.reserved.map((r) => r + s.t.context), first, last));
    c.strokeStyle = th.ink;
    c.lineWidth = 1.4;
    c.stroke();
  }
  if (s.t.capacity > 0 && s.t.capacity <= box.high) {
    const y = Math.round(box.y(s.t.capacity)) + 0.5;
    c.strokeStyle = th.no;
    c.lineWidth = 1.5;
    c.setLineDash([7, 4]);
    line(c, box.left, y, box.right, y);
    c.setLineDash([]);
  }
  legend(c, s, box, th);
}

// legend names the lines above the plot, where nothing is drawn.
function legend(c, s, box, th) {
  let x = box.left;
  const entry = (color, dash, text, short) => {
    if (x + 26 + c.measureText(text).width > box.right) text = short;
    c.strokeStyle = color;
    c.lineWidth = 1.5;
    c.setLineDash(dash);
    line(c, x, 9.5, x + 20, 9.5);
    c.setLineDash([]);
    c.fillStyle = th.soft;
    c.textAlign = 'left';
    c.fillText(text, x + 26, 13);
    x += 26 + c.measureText(text).width + 18;
  };
  if (s.t.reserved.length) entry(th.ink, [], s.t.context > 0 ? 'reserved + context' : 'reserved', 'reserved');
  if (s.t.capacity > 0) {
    const above = s.t.capacity > box.high;
    entry(th.no, [7, 4], 'capacity ' + formatBytes(s.t.capacity) + (above ? ', above the chart' : ''), formatBytes(s.t.capacity) + (above ? ' ↑' : ''));
  }
}

function paintMoments(c, s, box, th) {
  c.lineWidth = 1;
  for (const b of s.t.bands) {
    if (b.kind !== 'step') continue;
    c.strokeStyle = th.soft;
    c.globalAlpha = 0.35;
    const x = Math.round(box.x(s.axis.at(b.to))) + 0.5;
    line(c, x, box.top, x, box.bottom);
    c.globalAlpha = 1;
  }
  moment(c, s, box, s.pin, th.ink, []);
  if (s.hover !== null) moment(c, s, box, s.hover, th.soft, [3, 3]);
  const taken = [];
  for (const m of s.t.marks) {
    const i = sampleAt(s.t.events, m.event);
    const x = box.x(s.axis.at(m.event));
    if (m.kind === 'oom') {
      c.strokeStyle = th.no;
      c.lineWidth = 2;
      line(c, x, box.top, x, box.bottom);
    }
    tag(c, x, Math.max(box.y(s.t.device[i]) - 7, box.top - 5), m.name, box, m.kind === 'oom' ? th.no : th.ink, th, taken);
  }
  if (s.brush) {
    c.fillStyle = th.accent;
    c.globalAlpha = 0.18;
    c.fillRect(Math.min(s.brush[0], s.brush[1]), box.top, Math.abs(s.brush[1] - s.brush[0]), box.bottom - box.top);
    c.globalAlpha = 1;
  }
}

function moment(c, s, box, i, color, dash) {
  const x = Math.round(box.x(s.axis.xs[i])) + 0.5;
  c.strokeStyle = color;
  c.lineWidth = 1;
  c.setLineDash(dash);
  line(c, x, box.top, x, box.bottom);
  c.setLineDash([]);
}

// tag writes a mark's name with a small triangle that points at it, beside
// the names that stand there already.
function tag(c, x, y, name, box, color, th, taken) {
  const width = c.measureText(name).width + 10;
  if (x < box.left - 1 || x > box.right + 1) return;
  let left = Math.min(Math.max(x - width / 2, box.left + 2), box.right - width - 2);
  for (const t of taken) {
    if (Math.abs(t.y - y) >= 19 || left >= t.left + t.width || t.left >= left + width) continue;
    left = t.left - width - 3 > box.left ? t.left - width - 3 : t.left + t.width + 3;
  }
  taken.push({ left, width, y });
  c.fillStyle = color;
  trace(c, [[x - 5, y - 1], [x + 5, y - 1], [x, y + 6]]);
  c.fill();
  c.beginPath();
  c.roundRect(left, y - 18, width, 17, 3);
  c.fill();
  c.fillStyle = th.card;
  c.textAlign = 'left';
  c.fillText(name, left + 5, y - 5);
}

function paintBands(c, s, box, th) {
  c.save();
  c.beginPath();
  c.rect(box.left, box.bottom, box.right - box.left, box.height);
  c.clip();
  c.textAlign = 'left';
  box.rows.forEach((kind, row) => {
    const y = box.bottom + margin.gap + row * rowHeight;
    s.t.bands.filter((b) => b.kind === kind).forEach((b, i) => paintBand(c, s, box, th, b, i, y));
  });
  c.restore();
  c.textAlign = 'right';
  c.fillStyle = th.soft;
  box.rows.forEach((kind, row) => c.fillText(kind, box.left - 8, box.bottom + margin.gap + 11 + row * rowHeight));
  c.fillText(s.axis.name === 'time' ? 'time' : 'event', box.left - 8, box.height - 6);
}

function paintBand(c, s, box, th, b, i, y) {
  const from = Math.max(box.x(s.axis.at(b.from)), box.left);
  const to = Math.min(box.x(s.axis.at(b.to)), box.right);
  if (to <= box.left || from >= box.right || to - from < 0.4) return;
  c.fillStyle = i % 2 ? th.line : th.grid;
  c.fillRect(from, y, Math.max(to - from - 1, 0.5), rowHeight - 3);
  const name = shortened(b.name).find((n) => c.measureText(n).width + 8 < to - from);
  if (name) {
    c.fillStyle = th.ink;
    c.fillText(name, from + 4, y + 11);
  }
}

// shortened gives a path and its ends: "layers.3.mlp", "3.mlp", "mlp".
function shortened(name) {
  const parts = name.split('.');
  return parts.map((_, i) => parts.slice(i).join('.'));
}

function line(c, x1, y1, x2, y2) {
  c.beginPath();
  c.moveTo(x1, y1);
  c.lineTo(x2, y2);
  c.stroke();
}

function trace(c, points) {
  c.beginPath();
  points.forEach(([x, y], i) => (i ? c.lineTo(x, y) : c.moveTo(x, y)));
}
