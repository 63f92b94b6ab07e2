// Set-up: find the page's parts, fill the controls, repaint on change.
const byId = (id) => document.getElementById(id);
const page = { canvas: byId('canvas'), tip: byId('tip'), moment: byId('moment'), rows: byId('layers').tBodies[0], search: byId('search'), reset: byId('reset') };
const state = newState(JSON.parse(byId('data').textContent).timelines.map(decode));

let waiting = false;
function change({ list = true } = {}) {
  if (list) fillList(state, page);
  else markRow(state, page);
  page.reset.hidden = wholeRun(state);
  byId('capacity').checked = state.full;
  byId('capacity-label').hidden = !state.t.capacity;
  choose('views', state.v);
  choose('axes', state.axis.name === 'time' ? 1 : 0);
  page.canvas.setAttribute('aria-valuemax', state.t.count - 1);
  page.canvas.setAttribute('aria-valuenow', state.pin);
  page.canvas.setAttribute('aria-valuetext', momentText(state, state.pin) + ', ' + totalsText(state, state.pin));
  if (!waiting) {
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      paint(state, page.canvas);
    });
  }
}

// tabs makes a row of buttons of which one is chosen.
function tabs(id, names, pick) {
  const group = byId(id);
  group.hidden = names.length < 2;
  group.replaceChildren(...names.map((name, i) => {
    const b = element('button', '', name);
    b.type = 'button';
    b.setAttribute('role', 'radio');
    b.addEventListener('click', () => pick(i));
    b.addEventListener('keydown', (e) => {
      const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
      if (!by) return;
      e.preventDefault();
      const next = (i + by + names.length) % names.length;
      pick(next);
      group.children[next].focus();
    });
    return b;
  }));
}

function choose(id, index) {
  [...byId(id).children].forEach((b, i) => {
    b.setAttribute('aria-checked', String(i === index));
    b.tabIndex = i === index ? 0 : -1;
  });
}

function openDevice(index) {
  chooseDevice(state, index);
  tabs('views', state.t.views.map((v) => v.name), (i) => {
    chooseView(state, i);
    change();
  });
  tabs('axes', state.t.times.length ? ['events', 'time'] : ['events'], (i) => {
    chooseAxis(state, i ? 'time' : 'events');
    change();
  });
  change();
}

const device = byId('device');
device.replaceChildren(...state.timelines.map((t, i) => new Option(t.name, i)));
byId('device-label').hidden = state.timelines.length < 2;
device.addEventListener('change', () => openDevice(+device.value));
byId('capacity').addEventListener('change', (e) => {
  state.full = e.target.checked;
  change({ list: false });
});
page.reset.addEventListener('click', () => {
  show(state, state.axis.from, state.axis.to);
  change({ list: false });
});
page.search.addEventListener('input', () => {
  state.query = page.search.value.trim().toLowerCase();
  change();
});
page.rows.addEventListener('pointerover', (e) => {
  const tr = e.target.closest('tr');
  state.layer = tr && tr.dataset.layer !== undefined ? +tr.dataset.layer : null;
  change({ list: false });
});
page.rows.addEventListener('pointerleave', () => {
  state.layer = null;
  change({ list: false });
});
document.addEventListener('keydown', (e) => {
  if (e.key === '/' && !/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) {
    e.preventDefault();
    page.search.focus();
  }
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => change());
new ResizeObserver(() => change({ list: false })).observe(page.canvas);
listen(state, page, change);
openDevice(0);
document.documentElement.dataset.ready = 'yes';
