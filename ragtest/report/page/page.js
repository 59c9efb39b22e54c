"use strict";
(() => {
  const source = document.getElementById("data");
  const data = JSON.parse(source.textContent);
  source.textContent = ""; // it is not needed twice
  const rowsOnPage = 100;
  const context = 240; // characters around what is marked
  const overview = document.getElementById("overview");
  const queryPage = document.getElementById("query");
  const status = document.getElementById("status");
  const byID = new Map(data.queries.map((q, i) => [q.id, i]));
  const overviewTitle = document.title;

  // el makes an element. Texts become text nodes: nothing of the data is parsed as HTML.
  function el(name, attributes, ...children) {
    const e = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (value === false || value === undefined || value === null) continue;
      if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
      else e.setAttribute(key, value === true ? "" : value);
    }
    e.append(...children.flat().filter((c) => c !== null && c !== undefined && c !== false));
    return e;
  }

  const fixed = (x) => (x === undefined || x === null ? "–" : x.toFixed(4));
  const plus = (x) => (x === undefined || x === null ? "–" : (Math.abs(x) < 0.00005 ? "0" : (x > 0 ? "+" : "−") + Math.abs(x).toFixed(4)));
  const number = (n) => n.toLocaleString("en");
  const plural = (n, one, many) => number(n) + " " + (n === 1 ? one : many);

  // Documents count characters as code points; JavaScript's strings count UTF-16 units.
  const astral = /[\uD800-\uDFFF]/;
  const points = new Map();
  function slice(text, start, end) {
    if (!astral.test(text)) return text.slice(start, end);
    if (!points.has(text)) points.set(text, Array.from(text));
    return points.get(text).slice(start, end).join("");
  }

  // textOf returns the text of a hit or passage: null if the page does not hold it.
  function textOf(p) {
    if (p.t !== undefined) return data.texts[p.t] || null;
    if (p.d < 0) return null;
    for (const part of data.docs[p.d].parts || []) {
      if (part.s <= (p.s || 0) && (p.e || 0) <= part.e) return slice(part.t, (p.s || 0) - part.s, (p.e || 0) - part.s);
    }
    return null;
  }
  const docName = (p) => (p.d < 0 ? "" : data.docs[p.d].id);
  const relevantOf = (q, found) => found.rel || q.rel || [];

  /* The table of queries. */

  const state = { a: 0, b: data.runs.length === 2 ? 1 : -1, metric: 0, text: "", show: "all", sort: null, descending: false, page: 0 };
  let rows = []; // indexes of the queries that are shown, in order
  const columnsOf = () => {
    const a = data.runs[state.a];
    const score = (run, i) => (q) => { const f = q.runs[run]; return f ? f.s[i] : undefined; };
    const columns = [{ title: "query", text: true, value: (q) => q.q }];
    if (state.b < 0) {
      a.metrics.forEach((m, i) => columns.push({ title: m, value: score(state.a, i), bar: i === 0 }));
    } else {
      const name = a.metrics[state.metric];
      const other = data.runs[state.b].metrics.indexOf(name);
      const before = score(state.a, state.metric), after = score(state.b, other);
      columns.push({ title: "A", value: before, bar: true }, { title: "B", value: after, bar: true },
        { title: "B − A", change: true, value: (q) => difference(before(q), after(q)) });
    }
    const last = state.b < 0 ? state.a : state.b;
    columns.push({ title: "missed", whole: true, value: (q) => (q.runs[last] ? (q.runs[last].m || []).length : undefined) });
    if (state.b < 0) columns.push({ title: "lost by", word: true, value: (q) => lostBy(q.runs[last]) });
    return columns;
  };
  const difference = (x, y) => (x === undefined || y === undefined ? undefined : y - x);
  const lostBy = (f) => [...new Set(((f && f.m) || []).map((m) => m.l).filter(Boolean))].join(", ");

  const filters = [
    ["all", "all queries", () => true],
    ["missed", "something missed", (q) => [state.a, state.b].some((r) => r >= 0 && q.runs[r] && (q.runs[r].m || []).length > 0)],
    ["zero", "score 0", (q) => [state.a, state.b].some((r) => r >= 0 && q.runs[r] && q.runs[r].s[metricIn(r)] === 0)],
    ["one", "score 1", (q) => [state.a, state.b].every((r) => r < 0 || (q.runs[r] && q.runs[r].s[metricIn(r)] === 1))],
  ];
  const pairFilters = [
    ["worse", "worse in B", (q) => change(q) < 0],
    ["better", "better in B", (q) => change(q) > 0],
    ["same", "unchanged", (q) => change(q) === 0],
  ];
  const metricIn = (run) => data.runs[run].metrics.indexOf(data.runs[state.a].metrics[state.metric]);
  const change = (q) => {
    const a = q.runs[state.a], b = q.runs[state.b];
    return a && b ? b.s[metricIn(state.b)] - a.s[metricIn(state.a)] : undefined;
  };

  const searchable = [];
  function matches(q, i) {
    if (!state.text) return true;
    searchable[i] ||= [q.id, q.q, ...Object.entries(q.meta || {}).flat()].join("\n").toLowerCase();
    return state.text.toLowerCase().split(/\s+/).every((word) => searchable[i].includes(word));
  }

  function order() {
    const shown = [...filters, ...pairFilters].find((f) => f[0] === state.show)[2];
    rows = [];
    data.queries.forEach((q, i) => { if (shown(q) && matches(q, i)) rows.push(i); });
    if (state.sort === null) return;
    const column = columnsOf()[state.sort];
    const values = new Map(rows.map((i) => [i, column.value(data.queries[i])]));
    const collator = new Intl.Collator("en", { numeric: true });
    const compare = column.text || column.word ? (x, y) => collator.compare(x, y) : (x, y) => x - y;
    rows.sort((i, j) => {
      const x = values.get(i), y = values.get(j);
      if (x === undefined || y === undefined) return (x === undefined) - (y === undefined) || i - j;
      return (state.descending ? compare(y, x) : compare(x, y)) || i - j;
    });
  }

  const svg = (name, attributes) => {
    const e = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
    return e;
  };
  function bar(x) {
    const b = svg("svg", { class: x === 0 ? "bar zero" : "bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" });
    b.append(svg("rect", { class: "track", x: 0, y: 0, width: 100, height: 10 }),
      svg("rect", { class: "fill", x: 0, y: 0, width: x === 0 ? 3 : Math.max(0, Math.min(1, x)) * 100, height: 10 }));
    return b;
  }

  function cell(column, q) {
    const value = column.value(q);
    if (column.text) {
      return el("td", { class: "text" }, el("a", { href: "#q=" + encodeURIComponent(q.id), dir: "auto" }, q.q || "(no text)"), el("small", {}, el("bdi", {}, q.id)));
    }
    if (column.word) return el("td", {}, value);
    if (column.whole) return el("td", { class: "number" }, value === undefined ? "–" : number(value));
    if (column.change) return el("td", { class: "number " + (value > 0 ? "good" : value < 0 ? "bad" : "") }, plus(value));
    return el("td", { class: "number" }, column.bar && value !== undefined && bar(value), fixed(value));
  }

  const body = el("tbody");
  const headRow = el("tr");
  const counted = el("span", { class: "note", id: "count" });
  const previous = el("button", { class: "button", type: "button", onclick: () => turn(-1) }, "Previous");
  const next = el("button", { class: "button", type: "button", onclick: () => turn(1) }, "Next");
  const turn = (by) => { state.page += by; draw(); body.parentElement.parentElement.scrollIntoView({ block: "start" }); };

  function draw() {
    const columns = columnsOf();
    headRow.replaceChildren(...columns.map((c, i) => {
      const sorted = state.sort === i;
      return el("th", { scope: "col", class: c.text || c.word ? "" : "number", "aria-sort": sorted && (state.descending ? "descending" : "ascending") },
        el("button", { type: "button", onclick: () => sortBy(i) }, c.title));
    }));
    const pages = Math.max(1, Math.ceil(rows.length / rowsOnPage));
    state.page = Math.max(0, Math.min(state.page, pages - 1));
    const first = state.page * rowsOnPage;
    body.replaceChildren(...rows.slice(first, first + rowsOnPage).map((i) => {
      const q = data.queries[i];
      return el("tr", { "data-query": i }, columns.map((c) => cell(c, q)));
    }));
    if (rows.length === 0) body.append(el("tr", {}, el("td", { colspan: columns.length, class: "note" }, "No query matches.")));
    counted.textContent = rows.length === 0 ? "0 of " + plural(data.queries.length, "query", "queries")
      : number(first + 1) + "–" + number(Math.min(first + rowsOnPage, rows.length)) + " of " + plural(rows.length, "query", "queries") +
        (rows.length < data.queries.length ? ", " + number(data.queries.length) + " in all" : "");
    previous.disabled = state.page === 0;
    next.disabled = state.page === pages - 1;
    previous.hidden = next.hidden = pages === 1;
  }
  function update() {
    state.page = 0;
    order();
    draw();
    status.textContent = plural(rows.length, "query", "queries") + " shown";
  }
  function sortBy(i) {
    state.descending = state.sort === i && !state.descending;
    state.sort = i;
    update();
    headRow.children[i].firstChild.focus();
  }
  body.addEventListener("click", (event) => {
    const row = event.target.closest("tr[data-query]");
    if (row && !event.target.closest("a") && !String(getSelection())) location.hash = "q=" + encodeURIComponent(data.queries[row.dataset.query].id);
  });

  function choice(label, id, options, selected, change) {
    return el("label", {}, label, el("select", { id, onchange: (e) => { change(e.target.value); } },
      options.map(([value, text]) => el("option", { value, selected: String(value) === String(selected) }, text))));
  }
  const controls = el("div", { class: "controls" });
  function drawControls() {
    const runs = data.runs.map((r, i) => [i, r.name]);
    const list = [el("label", { class: "grow" }, "Filter by text, ID or metadata",
      el("input", { type: "search", id: "filter", value: state.text, autocomplete: "off", spellcheck: "false", oninput: (e) => { state.text = e.target.value.trim(); update(); } }))];
    list.push(choice("Show", "show", [...filters, ...(state.b >= 0 ? pairFilters : [])], state.show, (v) => { state.show = v; update(); }));
    if (data.runs.length > 1) {
      list.push(choice("Run A", "run-a", runs, state.a, (v) => { state.a = Number(v); choose(); }));
      list.push(choice("Run B", "run-b", [[-1, "none"], ...runs], state.b, (v) => { state.b = Number(v); choose(); }));
    }
    if (state.b >= 0) {
      const common = data.runs[state.a].metrics.map((m, i) => [i, m]).filter(([, m]) => data.runs[state.b].metrics.includes(m));
      list.push(choice("Metric", "metric", common, state.metric, (v) => { state.metric = Number(v); update(); }));
    }
    controls.replaceChildren(...list);
  }
  function choose() {
    const held = document.activeElement && document.activeElement.id;
    state.metric = Math.max(0, data.runs[state.a].metrics.findIndex((m) => state.b < 0 || data.runs[state.b].metrics.includes(m)));
    state.sort = null;
    if (state.b < 0 && pairFilters.some((f) => f[0] === state.show)) state.show = "all";
    drawControls();
    update();
    if (held && document.getElementById(held)) document.getElementById(held).focus();
  }

  /* A query's page. */

  // marked cuts the text of a document into stretches that are alike: what is
  // relevant, what was retrieved and which ranks begin there.
  function marked(doc, hits, relevant, missed) {
    const edges = new Set();
    const inDoc = (list) => list.filter((p) => p.d === doc);
    hits = inDoc(hits).filter((h) => (h.e || 0) > (h.s || 0));
    relevant = inDoc(relevant);
    missed = inDoc(missed);
    for (const p of [...hits, ...relevant, ...missed]) edges.add(p.s || 0).add(p.e || 0);
    const cuts = [...edges].sort((x, y) => x - y);
    const covers = (list, s, e) => list.some((p) => (p.s || 0) <= s && e <= (p.e || 0));
    return cuts.slice(0, -1).map((s, i) => {
      const e = cuts[i + 1];
      return { s, e, relevant: covers(relevant, s, e), retrieved: covers(hits, s, e),
        ranks: hits.filter((h) => (h.s || 0) === s), missed: missed.filter((m) => (m.s || 0) === s) };
    });
  }

  // part returns the text of [s, e) of a document: null where the page has none.
  function part(doc, s, e) {
    const pieces = (doc.parts || []).filter((p) => p.s < e && s < p.e);
    if (pieces.length !== 1 || pieces[0].s > s || pieces[0].e < e) return null;
    return slice(pieces[0].t, s - pieces[0].s, e - pieces[0].s);
  }

  // stretch appends the text of [from, to) and says where the page does not have it.
  function stretch(into, doc, from, to) {
    const left = (n) => n > 0 && into.append(el("span", { class: "gap" }, plural(n, "character", "characters") + " not in this file"));
    let at = from;
    for (const p of doc.parts || []) {
      const x = Math.max(at, p.s), y = Math.min(to, p.e);
      if (x >= y) continue;
      left(x - at);
      into.append(slice(p.t, x - p.s, y - p.s));
      at = y;
    }
    left(to - at);
  }

  // plain appends the text of [s, e), which is not marked: its ends in context, with
  // what is between on request.
  function plain(into, doc, s, e, isFirst, isLast) {
    if (s >= e) return;
    const before = isFirst ? s : Math.min(e, s + context);
    const after = isLast ? e : Math.max(before, e - context);
    const held = (doc.parts || []).reduce((n, p) => n + Math.max(0, Math.min(after, p.e) - Math.max(before, p.s)), 0);
    if (held === 0 || after - before <= 80) return stretch(into, doc, s, e);
    stretch(into, doc, s, before);
    const button = el("button", { class: "gap", type: "button", onclick: () => {
      const shown = el("span", { tabindex: "-1" });
      stretch(shown, doc, before, after);
      button.replaceWith(shown);
      shown.focus({ preventScroll: true });
    } }, "show " + number(held) + " more characters");
    into.append(button);
    stretch(into, doc, after, e);
  }

  function documentOf(side, index, found, relevant) {
    const doc = data.docs[index];
    const text = el("div", { class: "text", dir: "auto" });
    const stretches = marked(index, found.h, relevant, found.m || []);
    let at = 0;
    for (const x of stretches) {
      if (!x.relevant && !x.retrieved) continue;
      plain(text, doc, at, x.s, at === 0, false);
      at = x.e;
      for (const h of x.ranks) text.append(rankLink(side, h, relevant));
      for (const m of x.missed) if (m.r) text.append(el("span", { class: "rank lost", title: "not retrieved: a chunk with it is at rank " + m.r }, "#" + m.r));
      const kind = x.relevant ? (x.retrieved ? "both" : "missed") : "retrieved";
      const shown = part(doc, x.s, x.e);
      text.append(shown === null ? el("span", { class: "gap" }, plural(x.e - x.s, "character", "characters") + ", " + names[kind] + ", not in this file")
        : el("mark", { class: kind, id: side + "-" + index + "-" + x.s, tabindex: "-1" }, el("span", { class: "visually-hidden" }, "[" + names[kind] + ": "), shown, el("span", { class: "visually-hidden" }, "]")));
    }
    const held = doc.parts || [];
    plain(text, doc, at, doc.len || (held.length ? held[held.length - 1].e : 0), at === 0, true);
    const count = (kind) => stretches.reduce((n, x) => n + (kind(x) ? x.e - x.s : 0), 0);
    const all = count((x) => x.relevant), got = count((x) => x.relevant && x.retrieved);
    return el("article", { class: "doc" }, el("h4", {}, el("bdi", {}, doc.id), " ",
      el("small", {}, all > 0 ? number(got) + " of " + plural(all, "relevant character", "relevant characters") + " retrieved" : "nothing relevant")), text);
  }
  const names = { both: "relevant, retrieved", missed: "relevant, missed", retrieved: "retrieved" };

  function holdsRelevant(h, relevant) {
    if (data.level === "chunk") return relevant.some((r) => r.c === h.c);
    return relevant.some((r) => r.d === h.d && (r.s || 0) < (h.e || 0) && (h.s || 0) < (r.e || 0));
  }
  const rankLink = (side, h, relevant) => el("a", { class: "rank" + (holdsRelevant(h, relevant) ? " relevant" : ""), href: "#" + side + "-hit-" + h.r,
    "aria-label": "rank " + h.r, onclick: (e) => { e.preventDefault(); flash(side + "-hit-" + h.r); } }, "#" + h.r);

  function flash(id) {
    const target = document.getElementById(id);
    if (!target) return;
    target.scrollIntoView({ block: "center" });
    target.focus({ preventScroll: true });
    target.classList.add("flash");
    setTimeout(() => target.classList.remove("flash"), 1500);
  }

  function hit(side, h, relevant) {
    const text = textOf(h);
    const is = holdsRelevant(h, relevant);
    const inText = data.level === "token" && h.d >= 0 && (h.e || 0) > (h.s || 0);
    const place = inText ? el("button", { class: "place", type: "button", "aria-label": "show rank " + h.r + " in the text", onclick: () => flash(firstMark(side, h)) },
      el("bdi", {}, docName(h)), " [" + (h.s || 0) + ":" + h.e + "]") : el("bdi", {}, docName(h));
    return el("li", { id: side + "-hit-" + h.r, class: is && "relevant", tabindex: "-1" },
      el("div", { class: "where" }, el("span", { class: "rank" + (is ? " relevant" : "") }, "#" + h.r), " ", el("b", {}, String(Number(h.v.toPrecision(6)))), " ",
        place, is ? " · relevant" : ""),
      el("details", {}, el("summary", {}, data.level === "chunk" || h.t !== undefined ? "text, as indexed" : "text"),
        text === null ? el("p", { class: "note" }, "The text is not in this file.") : el("blockquote", { dir: "auto", tabindex: "0" }, text), el("p", { class: "meta" }, el("bdi", {}, h.c))));
  }
  function firstMark(side, h) {
    const prefix = side + "-" + h.d + "-";
    const mark = [...queryPage.querySelectorAll("mark")].find((m) => m.id.startsWith(prefix) && Number(m.id.slice(prefix.length)) >= (h.s || 0));
    return mark ? mark.id : "";
  }

  function missedPassage(m) {
    const text = textOf(m);
    const place = m.d >= 0 && m.e ? " [" + (m.s || 0) + ":" + m.e + "]" : "";
    return el("li", {}, el("div", { class: "where" }, el("bdi", {}, docName(m) || m.c || ""), place,
      m.l ? el("span", {}, " · lost by ", el("b", {}, m.l)) : null, m.r ? el("span", {}, " · a chunk with it is at rank ", el("b", {}, number(m.r))) : null),
      text === null ? el("p", { class: "note" }, m.c && data.level === "chunk" ? "The run did not make this chunk." : "The text is not in this file.") : el("blockquote", { dir: "auto", tabindex: "0" }, text));
  }

  function scoresOf(run, found) {
    const at = (m) => ((found.c || []).find((c) => c.metric === m) || {}).value;
    return el("ul", { class: "scores" }, data.runs[run].metrics.map((m, i) =>
      el("li", {}, m, el("b", {}, fixed(found.s[i])), at(m) !== undefined && el("i", {}, "at most " + fixed(at(m))))));
  }
  function lossesOf(run, found) {
    const list = (stages, amounts) => (amounts || []).map((x, i) => [stages[i], x]).filter(([, x]) => x !== 0).map(([name, x]) => name + " " + fixed(x)).join(", ");
    const recall = list(data.runs[run].recallStages, found.rl), precision = list(data.runs[run].precisionKinds, found.pl);
    return el("p", { class: "meta" }, recall && el("span", {}, "recall lost by " + recall), precision && el("span", {}, "precision lost by " + precision));
  }

  function sideOf(run, q, two) {
    const side = el("section", { class: "side" });
    const name = (two ? (run === state.a ? "A: " : "B: ") : "") + data.runs[run].name;
    if (data.runs.length > 1) side.append(el("h3", { dir: "auto" }, name));
    const found = q.runs[run];
    if (!found) {
      side.append(el("p", { class: "note" }, "This run does not have the query."));
      return side;
    }
    const relevant = relevantOf(q, found), missed = found.m || [], id = "run" + run + (two && run === state.b && state.a === state.b ? "b" : "");
    side.append(scoresOf(run, found), lossesOf(run, found), el("h3", {}, "Missed"),
      missed.length ? el("ul", { class: "misses" }, missed.map(missedPassage)) : el("p", { class: "note" }, relevant.length ? "Nothing." : "Nothing is relevant."));
    const beside = el("div", {}, el("h3", {}, "Retrieved"),
      found.h.length ? el("ol", { class: "hits" }, found.h.map((h) => hit(id, h, relevant))) : el("p", { class: "note" }, "Nothing was retrieved."));
    if (data.level === "token") {
      const docs = [...new Set([...relevant, ...found.h].map((p) => p.d))].filter((d) => d >= 0);
      side.append(el("div", { class: "found" }, el("div", {}, el("h3", {}, "Documents"), docs.map((d) => documentOf(id, d, found, relevant)),
        docs.length === 0 && el("p", { class: "note" }, "None.")), beside));
    } else {
      const chunks = el("div", {}, el("h3", {}, "Relevant chunks"), relevant.length === 0 ? el("p", { class: "note" }, "None.") :
        relevant.map((r) => {
          const got = found.h.find((h) => h.c === r.c), text = textOf(r);
          return el("article", { class: "doc" }, el("h4", {}, got ? rankLink(id, got, relevant) : null, " ", el("bdi", {}, docName(r) || r.c), " ", el("small", {}, got ? "retrieved" : "missed")),
            el("div", { class: "text", dir: "auto" }, text === null ? "The run did not make this chunk." : el("mark", { class: got ? "both" : "missed" }, text)));
        }));
      side.append(el("div", { class: "found" }, chunks, beside));
    }
    return side;
  }

  function showQuery(index) {
    const q = data.queries[index];
    if (!rows.includes(index)) { state.text = ""; state.show = "all"; drawControls(); update(); }
    const at = rows.indexOf(index);
    const step = (i, label, key) => (i >= 0 && i < rows.length
      ? el("a", { class: "button", href: "#q=" + encodeURIComponent(data.queries[rows[i]].id), "aria-keyshortcuts": key }, label)
      : el("button", { class: "button", type: "button", disabled: true }, label));
    const two = state.b >= 0;
    const heading = el("h2", { tabindex: "-1", dir: "auto" }, q.q || "(no text)");
    const legend = data.level === "token" ? el("p", { class: "legend" }, Object.entries(names).reverse().map(([kind, name]) => el("mark", { class: kind }, name))) : null;
    queryPage.replaceChildren(
      el("nav", { class: "steps", "aria-label": "Queries" }, el("a", { class: "button", href: "#", "aria-keyshortcuts": "Escape" }, "All queries"),
        step(at - 1, "← Previous", "ArrowLeft"), step(at + 1, "Next →", "ArrowRight"), el("span", { class: "count" }, number(at + 1) + " of " + number(rows.length))),
      heading,
      el("p", { class: "meta" }, el("span", {}, el("bdi", {}, q.id)), Object.entries(q.meta || {}).map(([k, v]) => el("span", {}, el("bdi", {}, k), ": ", el("bdi", {}, v)))),
      legend || "",
      el("div", { class: two ? "sides two" : "sides" }, (two ? [state.a, state.b] : [state.a]).map((run) => sideOf(run, q, two))));
    overview.hidden = true;
    queryPage.hidden = false;
    document.title = q.q + " – " + overviewTitle;
    scrollTo({ top: 0, behavior: "instant" });
    heading.focus({ preventScroll: true });
  }

  let opened = null;
  function route() {
    const wanted = /^#q=(.*)$/.exec(location.hash);
    let id = null;
    try { id = wanted && decodeURIComponent(wanted[1]); } catch { id = null; }
    if (id !== null && byID.has(id)) {
      opened = byID.get(id);
      showQuery(opened);
      return;
    }
    queryPage.hidden = true;
    overview.hidden = false;
    document.title = overviewTitle;
    if (opened === null) return;
    state.page = Math.max(0, Math.floor(rows.indexOf(opened) / rowsOnPage));
    draw();
    const row = body.querySelector('tr[data-query="' + opened + '"] a');
    opened = null;
    queryPage.replaceChildren();
    if (row) { row.focus({ preventScroll: true }); row.scrollIntoView({ block: "center", behavior: "instant" }); }
  }
  addEventListener("hashchange", route);
  addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    if (queryPage.hidden) {
      if (event.key === "/") { event.preventDefault(); document.getElementById("filter").focus(); }
      return;
    }
    const at = rows.indexOf(opened);
    const go = (i) => { if (i >= 0 && i < rows.length) location.hash = "q=" + encodeURIComponent(data.queries[rows[i]].id); };
    if (event.key === "Escape") location.hash = "";
    else if (event.key === "ArrowLeft") go(at - 1);
    else if (event.key === "ArrowRight") go(at + 1);
  });

  /* The tables that came with the page. */

  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((th, i) => {
      const sort = () => {
        const descending = th.getAttribute("aria-sort") === "ascending";
        for (const h of heads) h.removeAttribute("aria-sort");
        th.setAttribute("aria-sort", descending ? "descending" : "ascending");
        const key = (tr) => { const v = tr.cells[i].dataset.sort; return v === undefined ? tr.cells[i].textContent : Number(v); };
        const collator = new Intl.Collator("en", { numeric: true });
        const sorted = [...table.tBodies[0].rows].sort((r, s) => {
          const x = key(r), y = key(s);
          const by = typeof x === "number" && typeof y === "number" ? x - y : collator.compare(x, y);
          return descending ? -by : by;
        });
        table.tBodies[0].append(...sorted);
      };
      const button = el("button", { type: "button", onclick: sort }, th.textContent);
      th.replaceChildren(button);
    });
  }

  document.getElementById("table").append(controls,
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Queries" }, el("table", {}, el("thead", {}, headRow), body)),
    el("div", { class: "pager" }, previous, next, counted));
  drawControls();
  update();
  route();
  performance.mark("ready");
  document.documentElement.dataset.ready = "true";
})();
