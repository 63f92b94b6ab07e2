// Where the data comes from: this page, or the program that serves it.
const embedded = (id) => document.getElementById(id);

async function loadScene(device) {
  const inPage = embedded('scene-' + device);
  if (!inPage) {
    const answer = await fetch('scene?device=' + device);
    if (!answer.ok) throw new Error(await answer.text());
    return answer.arrayBuffer();
  }
  const packed = Uint8Array.from(atob(inPage.textContent.trim().replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).arrayBuffer();
}

// loadReplay returns the recording replayed with other settings.
async function loadReplay(device, conf) {
  const inPage = embedded('replays-' + device);
  if (inPage) {
    const found = JSON.parse(inPage.textContent).find((r) => r.conf === conf);
    if (!found) throw new Error('this page holds no replay with ' + conf);
    return found;
  }
  const answer = await fetch('replay?device=' + device + '&conf=' + encodeURIComponent(conf));
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

// loadMap returns the segments of a replay after an event; null when the page
// was saved and holds them for the replay's peak only.
async function loadMap(device, replay, state) {
  if (embedded('replays-' + device)) return replay.map && replay.map.state === state ? replay.map : null;
  const answer = await fetch('map?device=' + device + '&conf=' + encodeURIComponent(replay.conf) + '&state=' + state);
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}
