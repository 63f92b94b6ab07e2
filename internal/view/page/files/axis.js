// An axis maps states to pixels: evenly, or by the time at which they began.
// from and to are in its own unit, states or microseconds.
function newAxis(s, name) {
  if (name === 'time' && s.stride) {
    const end = timeOf(s, s.states - 1);
    return {
      name: 'time', from: 0, to: Math.max(end, 1) * 1.0005, least: 20, at: (state) => timeOf(s, state), state: (x) => stateAt(s, x),
      label: (x, span) => formatTime(x, span), step: 0,
    };
  }
  return {
    name: 'events', from: 0, to: s.states, least: Math.min(12, s.states), at: (state) => state,
    state: (x) => Math.min(Math.max(Math.floor(x), 0), s.states - 1), label: (x) => grouped(s.head.from + x), step: 1,
  };
}

// columnsOf returns the states at which the pixels of a view begin, and one
// more where the view ends. A pixel without a state of its own shows the one
// before it.
function columnsOf(s, v, count) {
  const out = new Uint32Array(count + 1);
  if (v.axis.name === 'events') {
    const per = (v.to - v.from) / count;
    for (let i = 0; i <= count; i++) out[i] = Math.min(Math.max(Math.floor(v.from + i * per), 0), s.states);
    return out;
  }
  for (let i = 0; i <= count; i++) out[i] = v.axis.state(v.from + (i / count) * (v.to - v.from));
  if (v.to >= v.axis.at(s.states - 1)) out[count] = s.states;
  return out;
}
