const frames = unpacked(data.frames, Float64Array);
let time = 0;
let looped = null;
let asked = null;

// Every time on this page is without the time at which the container starts. Chromium's player
// counts it and begins there, Firefox's begins at 0; where an unmoved player stands tells which.
const HAVE_CURRENT_DATA = 2;
const LEAST_START_S = 0.001;
let playerStart = null;
const learnStart = () => {
  if (playerStart !== null || player.readyState < HAVE_CURRENT_DATA) return;
  playerStart = data.start_s > LEAST_START_S && player.currentTime < data.start_s / 2 ? 0 : data.start_s;
  if (asked !== null) player.currentTime = asked + playerStart;
};

const frameAt = (seconds) => lastAtMost(seconds + 1e-6, frames.length, (at) => frames[at]);

const setTime = (seconds) => {
  time = Math.max(0, Math.min(seconds, data.extent_s));
  find("now").textContent = clock(time, 3);
  tell("time", time);
};
/** Go to a time; `inside` is where in the picture's stay the player is put. */
const seek = (seconds, inside = 0) => {
  setTime(seconds);
  asked = time + inside;
  if (!player) return;
  if (playerStart === null) learnStart(); else player.currentTime = asked + playerStart;
};
/** The player goes to the middle of a picture's stay, so that rounding shows no other picture. */
const stepFrame = (way) => {
  if (player && !player.paused) player.pause();
  if (!frames.length) { seek(time + way / (data.rate_hz || 25)); return; }
  const at = Math.max(0, Math.min(frameAt(time) + way, frames.length - 1));
  const stays = at + 1 < frames.length ? frames[at + 1] - frames[at] : 0.02;
  seek(frames[at], stays / 2);
};
const togglePlaying = () => {
  if (!player) return;
  if (player.paused) player.play().catch(() => {}); else player.pause();
};
const loop = (number) => {
  looped = looped === number ? null : number;
  find("loop").setAttribute("aria-pressed", String(looped !== null));
  if (looped === null) return;
  seek(startOf(looped));
  if (player?.paused) togglePlaying();
};

if (player) {
  const embedded = find("embedded");
  if (embedded) {
    const bytes = unpacked(embedded.textContent, Uint8Array);
    player.src = URL.createObjectURL(new Blob([bytes], { type: embedded.dataset.kind }));
    embedded.remove();
  }
  const take = (seconds) => {
    if (looped !== null && !player.paused
      && (seconds >= Math.max(endOf(looped), startOf(looped) + 0.2) || seconds < startOf(looped) - 0.3)) {
      seek(startOf(looped));
      return;
    }
    setTime(seconds);
  };
  const follow = () => {
    learnStart();
    if (playerStart === null) return;
    const seconds = player.currentTime - playerStart;
    if (asked === null || Math.abs(seconds - asked) > 0.002) {
      if (!player.seeking) { asked = null; take(seconds); }
    } else if (!player.paused) {
      asked = null;
    }
    if (!player.paused) requestAnimationFrame(follow);
  };
  ["play", "timeupdate", "seeked"].forEach((name) => player.addEventListener(name, follow));
  player.addEventListener("loadedmetadata", () => tell("size"));
  player.addEventListener("loadeddata", learnStart);
  learnStart();
  const isUnplayable = () => {
    find("unplayable").hidden = false;
    find("screen").classList.add("missing");
    tell("size");
  };
  player.addEventListener("error", isUnplayable);
  if (player.error) isUnplayable();
  ["play", "pause"].forEach((name) => player.addEventListener(name, () => {
    find("play").textContent = player.paused ? "Play" : "Pause";
  }));
}
find("play").disabled = !player;
find("play").addEventListener("click", togglePlaying);
find("frame-back").addEventListener("click", () => stepFrame(-1));
find("frame-on").addEventListener("click", () => stepFrame(1));
