const ROW_PX = 24;
const LEAST_SPAN_PX = 3;
const LABEL_PX = 34;
const LEAST_VIEW_S = 0.2;
const WAVE_PX = 44;
const LANE_PX = 160;
const MOST_LANE_PX = 1200;
const shown = { from: 0, to: data.extent_s };
const lit = new Set();
let chosen = null;
let colours = {};
let dirty = true;

const readColours = () => {
  const style = getComputedStyle(document.documentElement);
  const names = ["action", "screen_text", "speech", "other", "ink", "muted", "line", "surface", "accent", "right", "wrong"];
  colours = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
};

/** Many rows are low, so that a lane is at most `LANE_PX` high, or `MOST_LANE_PX` at three pixels a row. */
const rowHeight = (rows) => {
  if (rows <= LANE_PX / ROW_PX) return ROW_PX;
  return Math.min(Math.max(3, Math.floor(LANE_PX / rows)), MOST_LANE_PX / rows);
};
const barHeight = (rowPx) => (rowPx > 8 ? rowPx - 3 : rowPx > 2 ? rowPx - 1 : rowPx);
const stripOf = (canvas) => {
  const context = canvas.getContext("2d");
  return { canvas, context, width: 0, height: 0 };
};
const rowOf = new Int32Array(cues.length);
/** Each cue, in order of time, goes into the first row where nothing is in its way. */
const pack = (strip) => {
  strip.order.sort((a, b) => starts[a] - starts[b] || a - b);
  strip.rows = [];
  const free = [];
  strip.order.forEach((number) => {
    let row = free.findIndex((end) => end <= starts[number]);
    if (row < 0) row = strip.rows.push([]) - 1;
    free[row] = ends[number];
    strip.rows[row].push(number);
    rowOf[number] = row;
  });
  strip.rowPx = rowHeight(strip.rows.length);
};
const numbersOf = (lane) => {
  const first = laneOf.indexOf(data.lanes.indexOf(lane));
  return Array.from({ length: lane.count }, (_, at) => first + at);
};
const strips = [...document.querySelectorAll(".lane[data-lane]")].flatMap((box) => {
  const lane = data.lanes[Number(box.dataset.lane)];
  const list = box.querySelector(".cues");
  if (!list) return [];
  const strip = { ...stripOf(list.querySelector("canvas")), list, box, lane, order: numbersOf(lane), least: 0, at: -1 };
  pack(strip);
  return [strip];
});
const stripWith = (number) => strips.find((each) => each.lane === data.lanes[cues[number].lane]);
on("moved", (number) => {
  const strip = stripWith(number);
  const current = strip.order[strip.at];
  pack(strip);
  strip.at = strip.order.indexOf(current);
  redraw();
});
const axis = stripOf(find("axis"));
const waves = data.waveforms.map((wave) => {
  const peaks = unpacked(wave.peaks, Int8Array);
  const lane = element("div", undefined, "lane wave");
  const label = element("div", undefined, "label");
  label.append(element("b", "waveform"));
  const strip = element("div", undefined, "strip");
  const canvas = element("canvas");
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", "Outline of the sound");
  strip.append(canvas);
  lane.append(label, strip);
  const first = [...document.querySelectorAll(".lane[data-lane]")]
    .find((box) => data.lanes[Number(box.dataset.lane)].track === wave.track);
  find("lanes").insertBefore(lane, first || find("playhead"));
  return { ...stripOf(canvas), ...wave, peaks };
});

const xOf = (seconds, width) => ((seconds - shown.from) / (shown.to - shown.from)) * width;
const timeAt = (x, width) => shown.from + (x / width) * (shown.to - shown.from);
const isShown = (strip, number) => sureness(cues[number]) >= strip.least;
