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
/** A probability; and a recognizer's confidence, which nobody compared with the truth. */
const percent = (share) => `${Math.floor(share * 100 + 0.5)} %`;
const score = (share) => (Math.floor(share * 100 + 0.5) / 100).toFixed(2);

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

/** The cues by number, from the columns that `viewer/data.py` describes. */
const columns = data.cues;
const WHOLE = 10000;
const NOT_CALIBRATED = 65535;
const [starts, ends] = [unpacked(columns.starts, Float64Array), unpacked(columns.ends, Float64Array)];
const scores = unpacked(columns.scores, Uint16Array);
const calibrated = columns.calibrated && unpacked(columns.calibrated, Uint16Array);
const watermarks = new Set(columns.watermarks);
const laneOf = data.lanes.flatMap((lane, place) => Array(lane.count).fill(place));
const cues = columns.ids.map((id, number) => ({
  id,
  lane: laneOf[number],
  start_s: starts[number],
  end_s: ends[number],
  text: data.words[columns.texts[number]],
  short: data.words[columns.shorts[number]],
  confidence: scores[number] / WHOLE,
  calibrated: !calibrated || calibrated[number] === NOT_CALIBRATED ? null : calibrated[number] / WHOLE,
  watermark: watermarks.has(number),
}));
const pairs = (flat) => Array.from({ length: flat.length / 2 }, (_, at) => flat.slice(2 * at, 2 * at + 2));
const othersOf = (number) => pairs(columns.others[number]).map(([word, share]) => [data.words[word], share / WHOLE]);
const detailsOf = (number) => pairs(columns.details[number]).map(([what, value]) => [data.words[what], data.words[value]]);
const sureness = (cue) => cue.calibrated ?? cue.confidence;

/** Corrections by cue number; a cue's text and ends as they are now. */
const corrections = new Map();
const textOf = (number) => corrections.get(number)?.text ?? cues[number].text;
const startOf = (number) => starts[number];
const endOf = (number) => ends[number];
const whenOf = (number) => `${clock(startOf(number))}-${clock(endOf(number))}`;

/** What became of a cue in the block that is shown. */
let block = 0;
const stateOf = (number) => {
  const shown = data.blocks[block];
  return shown ? shown.states[shown.of[number]] : ["", ""];
};
