const data = JSON.parse(document.getElementById("data").textContent);
const find = (id) => document.getElementById(id);
const player = find("player");

const element = (tag, text, kind) => {
  const made = document.createElement(tag);
  if (kind) made.className = kind;
  if (text !== undefined) made.textContent = text;
  return made;
};
/** A text that directs itself, whatever stands around it. */
const isolated = (text, kind) => element("bdi", text, kind);

const clock = (seconds, digits = 1) => {
  const unit = 10 ** digits;
  const parts = Math.floor(seconds * unit + 0.5);
  const whole = Math.floor(parts / unit);
  const two = (number) => String(number).padStart(2, "0");
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  const head = hours ? `${hours}:${two(minutes)}` : `${minutes}`;
  const tail = digits ? `.${String(parts % unit).padStart(digits, "0")}` : "";
  return `${head}:${two(whole % 60)}${tail}`;
};
const percent = (share) => `${Math.floor(share * 100 + 0.5)} %`;

const unpacked = (text, Kind) => {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  return new Kind(bytes.buffer);
};

/** Index of the last of `count` rising values that is at most `value`; -1 where none is. */
const lastAtMost = (value, count, at) => {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (at(middle) <= value) low = middle + 1; else high = middle;
  }
  return low - 1;
};

/** What happens on the page, for whoever wants to know. */
const listeners = {};
const on = (what, act) => { (listeners[what] ||= []).push(act); };
const tell = (what, ...facts) => (listeners[what] || []).forEach((act) => act(...facts));

const sureness = (cue) => cue.calibrated ?? cue.confidence;

/** Corrections by cue number; a cue's text and ends as they are now. */
const corrections = new Map();
const textOf = (number) => corrections.get(number)?.text ?? data.cues[number].text;
const startOf = (number) => corrections.get(number)?.start_s ?? data.cues[number].start_s;
const endOf = (number) => corrections.get(number)?.end_s ?? data.cues[number].end_s;
const whenOf = (number) => `${clock(startOf(number))}-${clock(endOf(number))}`;

/** What became of a cue in the block that is shown. */
let block = 0;
const stateOf = (number) => data.blocks[block]?.[number] || ["", ""];
