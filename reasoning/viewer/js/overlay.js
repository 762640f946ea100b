// COCO-17 joints: nose, eyes, ears, shoulders, elbows, wrists, hips, knees, ankles.
const BONES = [
  [0, 1], [0, 2], [1, 3], [2, 4], [5, 6], [5, 7], [7, 9], [6, 8], [8, 10], [5, 11], [6, 12],
  [11, 12], [11, 13], [13, 15], [12, 14], [14, 16],
];
const LEAST_SCORE = 0.3;
const MOST_GAP_S = 0.5;
// Okabe and Ito's palette without black, told apart with every kind of colour vision.
const PERSON_COLOURS = ["#56b4e9", "#e69f00", "#009e73", "#f0e442", "#cc79a7", "#d55e00", "#0072b2"];
const personColour = (id) => PERSON_COLOURS[(Math.max(1, Number(id)) - 1) % PERSON_COLOURS.length];

const people = data.people.map((person) => ({
  id: person.id,
  times: unpacked(person.times, Float64Array),
  joints: unpacked(person.joints, Int16Array),
  scores: unpacked(person.scores, Uint8Array),
  observed: unpacked(person.observed, Uint8Array),
}));
const boxes = Object.entries(data.boxes).map(([number, places]) => ({ number: Number(number), places }));
const overlay = find("overlay");
const over = { people: true, texts: true };

/** A person's joints at a time, in pixels of the picture; null where nobody is there. */
const poseAt = (person, seconds) => {
  const { times } = person;
  const at = lastAtMost(seconds + 1e-6, times.length, (each) => times[each]);
  const next = at + 1 < times.length ? at + 1 : at;
  const first = Math.max(at, 0);
  if (at < 0 && times[0] - seconds > 0.05) return null;
  const gap = times[next] - times[first];
  if (next === first ? seconds - times[first] > 0.1 : gap > MOST_GAP_S && seconds - times[first] > 0.1) return null;
  const share = gap > 0 && gap <= MOST_GAP_S ? Math.max(0, Math.min(1, (seconds - times[first]) / gap)) : 0;
  const joints = [];
  for (let joint = 0; joint < 17; joint += 1) {
    const value = (frame, axisAt) => person.joints[(frame * 17 + joint) * 2 + axisAt] / 4;
    joints.push({
      x: value(first, 0) * (1 - share) + value(next, 0) * share,
      y: value(first, 1) * (1 - share) + value(next, 1) * share,
      score: person.scores[first * 17 + joint] / 255,
    });
  }
  return { joints, observed: person.observed[first] === 1 };
};
/** The corners of a text's box at a time, null where it is not read then. */
const boxAt = ({ number, places }, seconds) => {
  if (seconds < startOf(number) - 1e-6 || seconds > endOf(number) + 1e-6) return null;
  const at = Math.max(0, lastAtMost(seconds + 1e-6, places.length, (each) => places[each][0]));
  return places[at].slice(1);
};

const drawPerson = (context, person, pose, unit) => {
  const colour = personColour(person.id);
  const line = (width, style) => {
    context.lineWidth = width;
    context.strokeStyle = style;
    context.beginPath();
    BONES.forEach(([one, other]) => {
      const [a, b] = [pose.joints[one], pose.joints[other]];
      if (Math.min(a.score, b.score) < LEAST_SCORE) return;
      context.moveTo(a.x * unit, a.y * unit);
      context.lineTo(b.x * unit, b.y * unit);
    });
    context.stroke();
  };
  context.setLineDash(pose.observed ? [] : [5, 4]);
  line(5, "rgb(0 0 0 / 0.55)");
  line(2.5, colour);
  context.setLineDash([]);
  const sure = pose.joints.filter((joint) => joint.score >= LEAST_SCORE);
  if (!sure.length) return;
  const top = sure.reduce((a, b) => (a.y < b.y ? a : b));
  name(context, String(person.id), top.x * unit - 6, top.y * unit - 8, colour);
};
const name = (context, words, x, y, colour) => {
  context.font = "600 13px system-ui, sans-serif";
  const width = context.measureText(words).width + 8;
  const left = Math.max(0, Math.min(x, overlay.clientWidth - width));
  const top = Math.max(15, y);
  context.fillStyle = "rgb(0 0 0 / 0.7)";
  context.fillRect(left, top - 14, width, 18);
  context.fillStyle = colour;
  context.fillText(words, left + 4, top);
};
const drawBox = (context, number, corners, unit) => {
  context.beginPath();
  for (let at = 0; at < 8; at += 2) context.lineTo(corners[at] * unit, corners[at + 1] * unit);
  context.closePath();
  const isOut = stateOf(number)[0] === "dropped";
  context.setLineDash(isOut ? [5, 4] : []);
  context.lineWidth = 4;
  context.strokeStyle = "rgb(0 0 0 / 0.55)";
  context.stroke();
  context.lineWidth = number === chosen ? 3 : 2;
  context.strokeStyle = isOut ? "#bbb" : "#f0e442";
  context.stroke();
  context.setLineDash([]);
  const words = [...textOf(number).slice(0, 100)];
  name(context, words.length > 40 ? `${words.slice(0, 39).join("")}…` : words.join(""), corners[0] * unit, corners[1] * unit - 6, isOut ? "#ddd" : "#f0e442");
};

/** The part of the player that the picture fills, in CSS pixels. */
const pictureBox = () => {
  const { clientWidth, clientHeight } = player;
  const unit = Math.min(clientWidth / data.width, clientHeight / data.height);
  return { unit, left: (clientWidth - data.width * unit) / 2, top: (clientHeight - data.height * unit) / 2 };
};
const drawOverlay = () => {
  if (!overlay || !data.width) return;
  const { unit, left, top } = pictureBox();
  const scale = devicePixelRatio || 1;
  const [width, height] = [data.width * unit, data.height * unit];
  Object.assign(overlay.style, { left: `${player.offsetLeft + left}px`, top: `${player.offsetTop + top}px`, width: `${width}px`, height: `${height}px` });
  if (overlay.width !== Math.round(width * scale)) overlay.width = Math.round(width * scale);
  if (overlay.height !== Math.round(height * scale)) overlay.height = Math.round(height * scale);
  const context = overlay.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  context.lineJoin = context.lineCap = "round";
  if (over.people) {
    people.forEach((person) => {
      const pose = poseAt(person, time);
      if (pose) drawPerson(context, person, pose, unit);
    });
  }
  if (over.texts) {
    boxes.forEach((box) => {
      const corners = boxAt(box, time);
      if (corners && isShown(stripWith(box.number), box.number)) drawBox(context, box.number, corners, unit);
    });
  }
};
const toggleOverlay = (what, button) => {
  over[what] = !over[what];
  button.setAttribute("aria-pressed", String(over[what]));
  drawOverlay();
};
find("show-people").hidden = !overlay || !people.length;
find("show-texts").hidden = !overlay || !boxes.length;
find("show-people").addEventListener("click", (event) => toggleOverlay("people", event.currentTarget));
find("show-texts").addEventListener("click", (event) => toggleOverlay("texts", event.currentTarget));
["time", "size", "chosen", "block", "filtered"].forEach((what) => on(what, drawOverlay));
