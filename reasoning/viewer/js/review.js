const numberOf = new Map(cues.map((cue, number) => [cue.id, number]));
// Without a prototype, so that an id may be any word.
const foreign = Object.create(null);
Object.entries(data.review).forEach(([id, correction]) => {
  if (numberOf.has(id)) corrections.set(numberOf.get(id), correction); else foreign[id] = correction;
});
/** What was said of other cues that had the id of one of these: it is kept, and applied to none. */
const aside = Object.assign(Object.create(null), data.aside);
const apart = Object.values(aside).flat().length
  + Object.values(foreign).reduce((sum, each) => sum + 1 + (each.earlier?.length ?? 0), 0);
/** Take over the ends that a correction says, or a cue's own. */
const place = (number) => {
  const { start_s = cues[number].start_s, end_s = cues[number].end_s } = corrections.get(number) || {};
  if (start_s === starts[number] && end_s === ends[number]) return;
  [starts[number], ends[number]] = [start_s, end_s];
  tell("moved", number);
};
corrections.forEach((_, number) => place(number));
let unsaved = false;
/** The browser has read the file by then; Firefox reads it after the click is over. */
const DOWNLOAD_MS = 30000;
/** What the server answers where the review on disk is another than this page was made with. */
const CHANGED = 412;
const form = find("correction");
const fault = (words) => { find("edit-fault").textContent = words; find("edit-fault").hidden = !words; };

const fill = (number) => {
  form.hidden = false;
  fault("");
  const correction = corrections.get(number) || {};
  const cue = cues[number];
  find("mark-right").setAttribute("aria-pressed", String(correction.verdict === "right"));
  find("mark-wrong").setAttribute("aria-pressed", String(correction.verdict === "wrong"));
  find("mark-watermark").hidden = data.lanes[cue.lane].kind !== "screen_text";
  find("mark-watermark").setAttribute("aria-pressed", String(correction.watermark ?? cue.watermark));
  find("edit-text").value = textOf(number);
  find("edit-start").value = startOf(number).toFixed(3);
  find("edit-end").value = endOf(number).toFixed(3);
};
const count = () => {
  const words = corrections.size === 1 ? "1 cue is corrected" : `${corrections.size || "No"} cues are corrected`;
  const others = apart === 1 ? "1 correction is of a cue that is" : `${apart} corrections are of cues that are`;
  find("saved").textContent = `${words}${unsaved ? ", not saved yet" : ""}.`
    + (apart ? ` ${others} no longer there, or not on this page, and kept in the file.` : "");
  find("save").disabled = !unsaved;
};
/** Change what is said of the chosen cue; a value that says nothing new is left out. */
const correct = (changes) => {
  if (chosen === null) return;
  const cue = cues[chosen];
  const made = { ...corrections.get(chosen), ...changes };
  if (made.text === cue.text) delete made.text;
  if (made.watermark === cue.watermark) delete made.watermark;
  ["start_s", "end_s"].forEach((end) => {
    if (made[end] !== undefined && Math.abs(made[end] - cue[end]) < 0.0005) delete made[end];
  });
  Object.keys(made).forEach((key) => { if (made[key] === undefined) delete made[key]; });
  delete made.of;
  const of = { text: cue.text, start_s: cue.start_s, end_s: cue.end_s };
  if (Object.keys(made).length) corrections.set(chosen, { ...made, of }); else corrections.delete(chosen);
  place(chosen);
  unsaved = true;
  count();
  tell("chosen", chosen);
  redraw();
};
const mark = (verdict) => correct({ verdict: corrections.get(chosen)?.verdict === verdict ? undefined : verdict });
const markWatermark = () => {
  if (chosen === null || find("mark-watermark").hidden) return;
  correct({ watermark: !(corrections.get(chosen)?.watermark ?? cues[chosen].watermark) });
};
const undo = () => {
  if (chosen === null) return;
  corrections.delete(chosen);
  correct({});
};
const edit = () => {
  const [start_s, end_s] = [find("edit-start"), find("edit-end")].map((field) => Math.round(Number(field.value) * 1000) / 1000);
  const text = find("edit-text").value.trim();
  if (!text) { fault("A cue needs a text; mark it as wrong if nothing is there."); return; }
  if (!(start_s >= 0 && end_s >= start_s && Number.isFinite(end_s))) { fault("A cue ends no earlier than it starts."); return; }
  fault("");
  correct({ text, start_s, end_s });
};
const here = (field) => {
  find(field).value = time.toFixed(3);
  edit();
};
const save = async () => {
  const said = Object.assign(Object.create(null), foreign);
  corrections.forEach((correction, number) => { said[cues[number].id] = correction; });
  Object.entries(aside).forEach(([id, earlier]) => {
    const all = said[id] ? [said[id], ...earlier] : earlier;
    said[id] = all.length > 1 ? { ...all[0], earlier: all.slice(1) } : all[0];
  });
  const text = `${JSON.stringify({ schema: "cuelight.review/1", video: { name: data.name, sha256: data.sha256 }, cues: said }, null, 1)}\n`;
  if (data.save_url) {
    try {
      const headers = { "Content-Type": "application/json", "If-Match": data.review_tag };
      const reply = await fetch(data.save_url, { method: "PUT", body: text, headers });
      if (reply.status === CHANGED) {
        data.save_url = "";
        throw new Error(`${await reply.text()} Save again to download yours; open the page anew to see the other.`);
      }
      if (!reply.ok) throw new Error(await reply.text());
      data.review_tag = reply.headers.get("ETag");
    } catch (error) {
      find("saved").textContent = `Not saved: ${error.message}`;
      return;
    }
  } else {
    const link = element("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    link.download = data.review_name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), DOWNLOAD_MS);
  }
  unsaved = false;
  count();
  find("saved").textContent += data.save_url ? ` Saved as ${data.review_name}.` : ` Downloaded as ${data.review_name}; put it beside the .cues.json.`;
};
form.addEventListener("submit", (event) => event.preventDefault());
find("mark-right").addEventListener("click", () => mark("right"));
find("mark-wrong").addEventListener("click", () => mark("wrong"));
find("mark-watermark").addEventListener("click", markWatermark);
find("undo").addEventListener("click", undo);
["edit-text", "edit-start", "edit-end"].forEach((field) => find(field).addEventListener("change", edit));
find("start-here").addEventListener("click", () => here("edit-start"));
find("end-here").addEventListener("click", () => here("edit-end"));
find("save").addEventListener("click", save);
addEventListener("beforeunload", (event) => { if (unsaved) event.preventDefault(); });
on("chosen", fill);
if (corrections.size || apart) count();
