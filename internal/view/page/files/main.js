// Set-up: find the page's parts, fill the controls, repaint on change.
const byId = (id) => document.getElementById(id);
const facts = JSON.parse(byId('facts-data').textContent);
const page = {
  chart: byId('chart'), over: byId('over'), strip: byId('strip'), map: byId('map'), mapBox: byId('map-box'), mapFacts: byId('map-facts'), mapNote: byId('map-note'),
  tip: byId('tip'), search: byId('search'), searchFacts: byId('search-facts'), momentName: byId('moment-name'), momentChange: byId('moment-change'), momentFacts: byId('moment-facts'),
  listBody: byId('list').tBodies[0], listMore: byId('list-more'), listName: byId('list-name'), lists: byId('lists'),
  block: byId('block'), blockName: byId('block-name'), blockFacts: byId('block-facts'), blockStack: byId('block-stack'), blockNone: byId('block-none'), blockDull: byId('block-dull'),
  replayFacts: byId('replay-facts'), conf: byId('conf'), status: byId('status'), picture: null, modes: [],
};
let v = null;
const pending = new Set();

// change repaints what depends on what changed: the whole view, the chart's
// colours, or only what follows the pointer.
function change(...what) {
  what.forEach((w) => pending.add(w));
  if (page.waiting || !v) return;
  page.waiting = true;
  requestAnimationFrame(() => {
    page.waiting = false;
    const begin = performance.now();
    const todo = new Set(pending);
    pending.clear();
    if (todo.has('view')) {
      const { clientWidth: w, clientHeight: h } = page.chart;
      if (w && h) page.picture = drawUp(v, w, h);
    }
    if (!page.picture) return;
    if (todo.has('view') || todo.has('paint')) paintChart(v, page.picture, page.chart);
    paintOver(v, page.picture, page.over);
    if (todo.has('view')) {
      paintStrip(v, page.strip);
      describe();
    }
    if (todo.has('map') && v.mapData) page.mapLayout = paintMap(v, v.mapData, page.map);
    if (todo.has('view')) document.documentElement.dataset.answer = (performance.now() - begin).toFixed(1);
    if (todo.has('view')) later();
  });
}

// later fills the lists once the view stands still for a moment, so that they
// do not hold up a zoom.
function later() {
  const key = [v.pin, v.block, v.mode, v.list, v.query, v.order, v.replay ? v.replay.conf : '', page.map.clientWidth].join(' ');
  if (key === page.filled) return;
  clearTimeout(page.later);
  page.later = setTimeout(() => {
    page.filled = key;
    fillMoment(v, page);
    fillBlock(v, page);
    showMap(v, page);
  }, 30);
}

// describe tells assistive technology and the controls where the view stands.
function describe() {
  const s = v.s;
  page.over.setAttribute('aria-valuemax', s.states - 1);
  page.over.setAttribute('aria-valuenow', v.pin);
  page.over.setAttribute('aria-valuetext', momentName(s, v.pin) + ', ' + formatBytes(totalAt(s, v.pin)) + ' allocated');
  byId('reset').hidden = v.from <= v.axis.from && v.to >= v.axis.to;
  byId('fit').checked = v.fit;
  for (const b of byId('modes').children) choose(b, b.dataset.mode === v.mode);
  for (const b of byId('axes').children) choose(b, b.dataset.axis === v.axis.name);
}

function choose(b, on) {
  b.setAttribute('aria-checked', String(on));
  b.tabIndex = on ? 0 : -1;
}

// radios makes a row of buttons of which one is chosen.
function radios(group, names, key, pick) {
  group.hidden = names.length < 2;
  group.replaceChildren(...names.map(([value, name], i) => {
    const b = element('button', '', name);
    b.type = 'button';
    b.dataset[key] = value;
    b.setAttribute('role', 'radio');
    b.addEventListener('click', () => pick(value));
    b.addEventListener('keydown', (e) => {
      const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
      if (!by) return;
      e.preventDefault();
      const next = (i + by + names.length) % names.length;
      group.children[next].focus();
      pick(names[next][0]);
    });
    return b;
  }));
}

async function openDevice(device) {
  page.status.textContent = 'reading the recording …';
  page.status.hidden = false;
  await new Promise((r) => setTimeout(r, 0));
  let buffer = await loadScene(device);
  const s = newScene(buffer);
  buffer = null;
  v = Object.assign(v || {}, newView(s), { mapKey: null, mapData: null, strip: null });
  page.filled = '';
  page.modes = ['blocks', ...usefulCuts(s)];
  radios(byId('modes'), page.modes.map((m) => [m, m === 'blocks' ? 'blocks' : 'by ' + cuts[m].title]), 'mode', (m) => {
    v.mode = m;
    v.layer = null;
    change('view');
  });
  radios(byId('axes'), s.stride ? [['events', 'events'], ['time', 'time']] : [['events', 'events']], 'axis', (a) => {
    chooseAxis(v, a);
    change('view');
  });
  fillConfs();
  fillHead(s);
  page.status.hidden = true;
  page.searchFacts.textContent = '';
  search();
  change('view');
  document.documentElement.dataset.ready = 'yes';
}

function fillHead(s) {
  const h = s.head;
  const parts = ['peak ' + formatBytes(h.peak.allocated) + ' allocated ' + atEvent(s, h.peak.state)];
  if (h.reserved) parts.push('at most ' + formatBytes(h.peak.reserved) + ' reserved');
  parts.push(counted(h.states - 1, 'event'), counted(h.blocks, 'block'));
  if (h.ooms.length) parts.push(counted(h.ooms.length, 'failed request') + ', the first of ' + formatBytes(h.ooms[0].requested) + ' ' + atEvent(s, h.ooms[0].state));
  byId('summary').textContent = parts.join(' · ');
  const warnings = h.warnings || [];
  const notes = warnings.map((w) => w.message);
  if (h.states - 1 < h.events) notes.unshift('shown are events ' + grouped(h.from) + ' to ' + grouped(h.from + h.states - 1) + ' of ' + grouped(h.events) + (h.narrowed ? ', those around the peak, since more blocks do not fit; --events FROM:TO shows others' : ''));
  byId('notes').hidden = !notes.length;
  byId('note-count').textContent = counted(notes.length, 'note');
  byId('note-list').replaceChildren(...notes.map((n) => element('li', '', n)));
}

function fillConfs() {
  const options = [new Option('as recorded', ''), ...facts.confs.map((c) => new Option(c, c))];
  if (facts.served) options.push(new Option('other settings …', '?'));
  page.conf.replaceChildren(...options);
  byId('conf-label').hidden = options.length < 2;
  v.replay = null;
  v.wanted = null;
  page.replayFacts.textContent = '';
}

let searchTimer = 0;
function search() {
  v.query = page.search.value.trim().toLowerCase();
  v.found = findStacks(v.s, v.query);
  if (v.found) {
    const shapes = v.found.reduce((n, f) => n + f, 0);
    const f = foundAt(v.s, v.found, v.s.peak);
    page.searchFacts.textContent = shapes ? formatBytes(f.bytes) + ' at the peak in ' + counted(f.blocks, 'block') : 'in no stack';
  } else page.searchFacts.textContent = '';
  change('view');
}

function start() {
  const device = byId('device');
  device.replaceChildren(...facts.devices.map((d) => new Option('device ' + d, d)));
  byId('device-label').hidden = facts.devices.length < 2;
  const open = (d) => openDevice(d).catch((err) => {
    page.status.hidden = false;
    page.status.textContent = err.message;
    document.documentElement.dataset.ready = 'no';
  });
  device.addEventListener('change', () => open(+device.value));
  byId('fit').addEventListener('change', (e) => {
    v.fit = e.target.checked;
    change('view');
  });
  byId('reset').addEventListener('click', () => {
    show(v, v.axis.from, v.axis.to);
    change('view');
  });
  byId('peak').addEventListener('click', () => {
    pin(v, v.s.peak);
    change('view');
  });
  page.search.addEventListener('input', () => {
    clearTimeout(searchTimer);
    searchTimer = setTimeout(search, 120);
  });
  radios(page.lists, [['line', 'by line'], ['block', 'each block']], 'list', (l) => {
    v.list = l;
    change('view');
  });
  page.listBody.addEventListener('click', (e) => pickRow(e.target.closest('tr')));
  page.listBody.addEventListener('pointerover', (e) => pointRow(e.target.closest('tr')));
  page.listBody.addEventListener('pointerleave', () => pointRow(null));
  byId('block-close').addEventListener('click', () => {
    v.block = -1;
    change('view');
  });
  page.blockDull.addEventListener('click', () => {
    v.allFrames = !v.allFrames;
    fillBlock(v, page);
  });
  byId('block-frame').addEventListener('click', () => {
    frameBlock(v);
    change('view');
  });
  radios(byId('orders'), Object.keys(mapOrders).map((o) => [o, o]), 'order', (o) => {
    v.order = o;
    for (const b of byId('orders').children) choose(b, b.dataset.order === o);
    change('view');
  });
  for (const b of byId('orders').children) choose(b, b.dataset.order === 'by address');
  page.conf.addEventListener('change', () => {
    const own = page.conf.value === '?';
    byId('own').hidden = !own;
    if (own) byId('own-text').focus();
    else chooseReplay(v, page, page.conf.value || null, change);
  });
  byId('own').addEventListener('submit', (e) => {
    e.preventDefault();
    const conf = byId('own-text').value.trim();
    if (conf) chooseReplay(v, page, conf, change);
  });
  byId('help-open').addEventListener('click', () => byId('help').showModal());
  document.addEventListener('keydown', (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) return;
    if (e.key === '/') {
      e.preventDefault();
      page.search.focus();
    } else if (e.key === '?') byId('help').showModal();
    else if (v && document.activeElement === document.body && press(v, page, e)) {
      e.preventDefault();
      change('view');
    }
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    theme.values.clear();
    page.filled = '';
    change('view');
  });
  const watch = new ResizeObserver(() => {
    page.filled = '';
    change('view');
  });
  watch.observe(page.chart);
  watch.observe(page.map);
  open(facts.devices[0]).then(() => v && listen(v, page, change));
}

// pickRow chooses a block, or searches for what a layer stands for.
function pickRow(tr) {
  if (!tr) return;
  if (tr.dataset.block !== undefined) v.block = +tr.dataset.block;
  else if (listCut(v) === 'line' || listCut(v) === 'module') {
    const name = cuts[listCut(v)].text(v.s, +tr.dataset.key);
    page.search.value = page.search.value === name ? '' : name;
    search();
  }
  change('view');
}

function pointRow(tr) {
  const block = tr && tr.dataset.block !== undefined ? +tr.dataset.block : -1;
  const layer = tr && tr.dataset.key !== undefined && v.mode !== 'blocks' ? +tr.dataset.key : null;
  if (block === v.pointed && layer === v.layer) return;
  v.pointed = block;
  v.layer = layer;
  change('paint', 'map');
}

start();
