// The switch: the same requests under other settings of the allocator. The
// program replays them; a saved page holds a few replays.
async function chooseReplay(v, page, conf, change) {
  v.wanted = conf;
  if (conf === null) {
    v.replay = null;
    page.replayFacts.textContent = '';
    change('view');
    return;
  }
  page.replayFacts.textContent = 'replaying with ' + conf + ' …';
  try {
    const r = await loadReplay(v.s.head.device, conf);
    if (v.wanted !== conf) return;
    v.replay = { ...r, reserved: { at: r.states, level: r.levels } };
    page.replayFacts.textContent = replayText(v, v.replay);
  } catch (err) {
    if (v.wanted !== conf) return;
    v.replay = null;
    page.replayFacts.textContent = 'no replay: ' + err.message;
  }
  change('view');
}

function replayText(v, r) {
  const was = r.recorded;
  let text = 'With ' + r.conf + ' at most ' + formatBytes(r.reserved_bytes) + ' would have been reserved, ' + signedBytes(r.reserved_bytes - was) + ' (' + percent(Math.abs(r.reserved_bytes - was) / Math.max(was, 1)) + '), with ' + counted(r.driver_calls, 'driver call') + '.';
  if (r.oom_state !== undefined) text += ' Out of memory ' + atEvent(v.s, r.oom_state) + '.';
  return text + ' ' + r.check;
}

// showMap paints the segment map of the pinned moment, recorded or replayed.
async function showMap(v, page) {
  const s = v.s;
  const state = v.pin;
  if (!s.segments.length && !v.replay) {
    page.mapBox.hidden = true;
    return;
  }
  page.mapBox.hidden = false;
  page.mapNote.textContent = '';
  const key = state + ' ' + (v.replay ? v.replay.conf : '');
  if (v.mapKey !== key) {
    v.mapKey = key;
    v.mapData = s.segments.length ? recordedMap(s, state) : null;
    if (v.replay) {
      const raw = await loadMap(s.head.device, v.replay, state).catch(() => null);
      if (v.mapKey !== key) return;
      if (raw) v.mapData = { ...replayedMap(s, raw), with: v.replay.conf };
      else page.mapNote.textContent = 'The map shows the recording: this page holds replayed segments for ' + (v.replay.map ? eventName(s, v.replay.map.state) : 'no moment') + ' only.';
    }
  }
  if (!v.mapData) {
    page.mapBox.hidden = true;
    return;
  }
  fillMapFacts(v, v.mapData, page);
  page.mapLayout = paintMap(v, v.mapData, page.map);
}
