// The table beside the chart and the tip on it: what was live at a moment.
function element(name, className, text) {
  const e = document.createElement(name);
  if (className) e.className = className;
  if (text !== undefined) e.textContent = text;
  return e;
}

function momentText(s, i) {
  const event = s.t.events[i];
  const where = bandsAt(s.t, event);
  return 'event ' + grouped(event) + (s.t.times.length ? ', ' + formatSeconds(s.t.times[i] / 1e6, 1) : '') + (where.length ? ' (' + where.join(', ') + ')' : '');
}

function totalsText(s, i) {
  const t = s.t;
  const parts = [];
  if (t.allocated.length) parts.push(formatBytes(t.allocated[i]) + ' allocated');
  if (t.reserved.length) parts.push(formatBytes(t.reserved[i]) + ' reserved');
  parts.push(formatBytes(t.device[i]) + ' on the device');
  return parts.join(', ');
}

function fillList(s, page) {
  const i = s.pin;
  page.moment.replaceChildren(
    element('b', '', (i === s.t.peak ? 'Live at the peak, ' : 'Live at ') + momentText(s, i)),
    element('br'), element('span', '', totalsText(s, i)));
  const live = s.layers.map((l, k) => ({ l, k })).filter(({ l }) => l.bytes[i] > 0 && l.text.includes(s.query));
  live.sort((a, b) => b.l.bytes[i] - a.l.bytes[i]);
  const rows = live.map(({ l, k }) => row(s, l, k, i));
  if (!rows.length) {
    const empty = element('tr');
    const cell = element('td', '', s.query ? 'no layer with this name is live here' : 'nothing is live here');
    cell.colSpan = 3;
    empty.append(cell);
    rows.push(empty);
  }
  page.rows.replaceChildren(...rows);
  markRow(s, page);
}

function row(s, l, k, i) {
  const tr = element('tr');
  tr.dataset.layer = k;
  const name = element('td');
  const swatch = element('span', 'swatch');
  swatch.style.background = `var(${s.colors[k]})`;
  name.append(swatch, l.name);
  if (l.note) name.append(element('span', 'note', l.note));
  const size = element('td', 'num', formatBytes(l.bytes[i]));
  size.title = grouped(l.bytes[i]) + ' bytes';
  tr.append(name, size, element('td', 'num', percent(l.bytes[i] / stackedAt(s, i))));
  return tr;
}

function stackedAt(s, i) {
  return s.layers.length ? s.layers[s.layers.length - 1].top[i] : 0;
}

function markRow(s, page) {
  for (const tr of page.rows.children) tr.classList.toggle('on', s.layer !== null && tr.dataset.layer === String(s.layer));
}

// fillTip says what is under the pointer.
function fillTip(s, page, px, py) {
  const tip = page.tip;
  if (s.hover === null) {
    tip.hidden = true;
    return;
  }
  const i = s.hover;
  const lines = [];
  if (s.layer !== null) {
    const l = s.layers[s.layer];
    lines.push(element('b', '', l.name));
    if (l.note) lines.push(element('div', 'soft', l.note));
    lines.push(element('div', '', formatBytes(l.bytes[i]) + ', ' + percent(l.bytes[i] / stackedAt(s, i)) + ' of what is live'));
  }
  if (s.cached) {
    lines.push(element('b', '', 'cached'), element('div', 'soft', 'held from the driver, not allocated'));
    lines.push(element('div', '', formatBytes(s.t.device[i] - stackedAt(s, i))));
  }
  lines.push(element('div', 'soft', momentText(s, i)), element('div', 'soft', totalsText(s, i)));
  tip.replaceChildren(...lines);
  tip.hidden = false;
  const width = page.canvas.clientWidth;
  const x = px + 16 + tip.offsetWidth > width ? Math.max(px - tip.offsetWidth - 16, 0) : px + 16;
  tip.style.transform = `translate(${x}px, ${Math.max(py - tip.offsetHeight - 8, 0)}px)`;
}
