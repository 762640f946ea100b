if (data.study) {
  const { study } = data;
  const category = find("study-category");
  const list = find("study-questions");
  category.append(...["all", ...study.categories].map((each) => element("option", each)));
  const sign = (verdict) => ({ right: "✓", wrong: "✗", unscored: "?", failed: "!" }[verdict] || "~");

  const cell = (answers) => {
    const box = element("td");
    if (!answers.length) box.append(element("span", "not asked", "facts"));
    answers.forEach((answer) => {
      const verdict = element("div", `${sign(answer.verdict)} ${answer.verdict}`, `verdict ${answer.verdict}`);
      box.append(verdict);
      if (answer.text) { const words = element("div"); words.append(isolated(answer.text)); box.append(words); }
      if (answer.reason) { const why = element("div", undefined, "facts"); why.append(isolated(answer.reason)); box.append(why); }
      if (answer.repeat) box.append(element("div", `repeat ${answer.repeat + 1}`, "facts"));
      if (study.models > 1) box.append(element("div", answer.model, "facts"));
      if (answer.cues.length) {
        const button = element("button", `${answer.cues.length} cues in its prompt`, "go");
        button.type = "button";
        button.addEventListener("mouseenter", () => light(answer.cues));
        button.addEventListener("focus", () => light(answer.cues));
        button.addEventListener("mouseleave", () => light([]));
        button.addEventListener("blur", () => light([]));
        button.addEventListener("click", () => go(answer.cues[0]));
        box.append(button);
      }
    });
    return box;
  };
  const showAnswers = (question) => {
    const table = element("table");
    const head = element("tr");
    head.append(...study.conditions.map((condition) => {
      const title = element("th", condition);
      title.scope = "col";
      return title;
    }));
    const row = element("tr");
    row.append(...question.answers.map(cell));
    const top = element("thead");
    const body = element("tbody");
    top.append(head);
    body.append(row);
    table.append(top, body);
    const reference = element("p");
    reference.append("Reference: ", isolated(question.reference || "none"));
    const title = element("h3");
    title.append(isolated(question.text));
    const beside = element("div", undefined, "beside");
    beside.tabIndex = 0;
    beside.setAttribute("role", "region");
    beside.setAttribute("aria-label", "Answers, condition beside condition");
    beside.append(table);
    find("study-answers").replaceChildren(title, reference, beside);
  };
  const buttons = study.questions.map((question) => {
    const item = element("li");
    const button = element("button", undefined, "question-button");
    button.type = "button";
    const marks = question.answers.map((answers) => (answers.length ? answers.map((answer) => sign(answer.verdict)).join("") : "–"));
    button.append(isolated(question.text), element("small", ` ${[question.category, marks.join(" ")].filter(Boolean).join(" · ")}`));
    const ask = () => {
      list.querySelectorAll("[aria-current]").forEach((each) => each.removeAttribute("aria-current"));
      button.setAttribute("aria-current", "true");
      showAnswers(question);
    };
    button.addEventListener("click", () => {
      ask();
      if (question.span) { seek(question.span[0]); bringIntoView(question.span[0]); }
    });
    item.append(button);
    return { item, ask };
  });
  list.append(...buttons.map((each) => each.item));
  const filter = () => {
    let count = 0;
    study.questions.forEach((question, place) => {
      const stays = (category.value === "all" || question.category === category.value)
        && (!find("study-flipped").checked || question.flipped)
        && (!find("study-wrong").checked || question.wrong);
      buttons[place].item.hidden = !stays;
      count += stays;
    });
    find("study-count").textContent = `${count} of ${study.questions.length}`;
  };
  [category, find("study-flipped"), find("study-wrong")].forEach((each) => each.addEventListener("change", filter));
  filter();
  if (study.questions.length) buttons[0].ask();
}
