
// What was measured: times, a run as a timeline, memory, results, and where.
function timesTab(open) {
  const box = make("section", "text-tab"), { op_table, nodes, runs } = data.times;
  const most = Math.max(...op_table.map(r => r.share), 1e-9);
  const gauge = (share, op) => {
    const fill = make("i", "coloured");
    fill.style.setProperty("--hue", kindOf(op)[1]);
    fill.style.width = 100 * share / most + "%";
    return make("span", "gauge wide", fill);
  };
  box.append(make("div", "soft gap", runs > 1 ? `Medians of ${plural(runs, "recorded run")}. Estimates are what the plan expected.` : "Of one recorded run, which also touches memory for the first time: bench measures many. Estimates are what the plan expected."));
  const perRun = r => Math.max(1, Math.round(r.count / Math.max(1, runs)));
  box.append(make("div", "card", make("h3", "", "By op"), tableOf([
    { name: "op", get: r => r.op, show: r => make("b", "", cut(r.op, 40)) }, { name: "share", get: r => r.share, num: true, show: r => percent(r.share) },
    { name: "", get: r => r.share, show: r => gauge(r.share, r.op) },
    { name: "a run", num: true, get: r => r.p50_us, show: r => showUs(r.p50_us) }, { name: "estimated", num: true, get: r => r.estimate_us, show: r => showUs(r.estimate_us) },
    { name: "steps", num: true, get: perRun }, { name: "device", get: r => r.device },
  ], op_table, 40)));
  box.append(make("div", "card", make("h3", "", "By node"), tableOf([
    { name: "node", get: r => r.name, show: r => linkTo(r.name, open, cutFront(r.name, 60)) }, { name: "op", get: r => r.op, show: r => cut(r.op, 40) },
    { name: "share", num: true, get: r => r.thread_share, show: r => percent(r.thread_share) }, { name: "a run", num: true, get: r => r.p50_us, show: r => showUs(r.p50_us) },
    { name: "estimated", num: true, get: r => r.estimate_us, show: r => showUs(r.estimate_us) }, { name: "device", get: r => r.device },
  ], nodes, 50)));
  return box;
}

// Rows of spans on one axis of time, which zooms. `spans`: {row, start, us, title, hue, cls, node}.
function lanes(rows, spans, end, open) {
  const canvas = make("canvas", "lanes"), tip = make("div", "tip"), box = make("div", "lanes-box", canvas, tip), height = 26;
  let from = 0, to = Math.max(end, 1e-9);
  const names = () => onPhone() ? 84 : 190;
  const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const draw = () => {
    const width = box.clientWidth || 800, ratio = devicePixelRatio || 1, left = names();
    canvas.width = width * ratio;
    canvas.height = (rows.length * height + 24) * ratio;
    canvas.style.height = rows.length * height + 24 + "px";
    const c = canvas.getContext("2d"), dark = matchMedia("(prefers-color-scheme: dark)").matches, x = us => left + (width - left - 8) * (us - from) / (to - from);
    c.scale(ratio, ratio);
    c.font = "11px system-ui, sans-serif";
    rows.forEach((r, i) => {
      c.fillStyle = css("--page");
      c.fillRect(left, i * height + 2, width - left - 8, height - 4);
      c.fillStyle = css("--soft");
      c.fillText(cut(r.name, Math.floor(left / 6.2)), 0, i * height + 17);
    });
    c.save();
    c.beginPath();
    c.rect(left, 0, width - left - 8, rows.length * height);
    c.clip();
    for (const s of spans) {
      const a = x(s.start), b = x(s.start + s.us);
      if (b < left || a > width) continue;
      c.globalAlpha = s.faint ? 0.45 : 1;
      c.fillStyle = `hsl(${s.hue} ${dark ? "45% 52%" : "58% 58%"})`;
      c.fillRect(a, s.row * height + 3, Math.max(0.7, b - a - 0.4), height - 6);
      if (b - a > 40) {
        c.fillStyle = dark ? "#10141a" : "#fff";
        c.fillText(cut(s.label, Math.floor((b - a - 6) / 6.2)), a + 4, s.row * height + 17);
      }
    }
    c.restore();
    c.globalAlpha = 1;
    c.fillStyle = css("--soft");
    const ticks = onPhone() ? 2 : 5;
    for (let i = 0; i <= ticks; ++i) {
      c.textAlign = i === ticks ? "right" : "left";
      c.fillText(showUs(from + (to - from) * i / ticks) || "0", x(from + (to - from) * i / ticks), rows.length * height + 16);
    }
    c.textAlign = "left";
  };
  const at = e => {
    const r = canvas.getBoundingClientRect(), left = names(), us = from + (to - from) * (e.clientX - r.left - left) / (r.width - left - 8), line = Math.floor((e.clientY - r.top) / height);
    const slack = (to - from) * 2 / Math.max(1, r.width);
    return { us, hit: spans.find(s => s.row === line && us >= s.start - slack && us <= s.start + s.us + slack), left: e.clientX - r.left, top: e.clientY - r.top };
  };
  let drag = null, moved = false;
  canvas.onwheel = e => {
    e.preventDefault();
    const { us } = at(e), f = Math.exp(e.deltaY * 0.002);
    from = Math.max(0, us - (us - from) * f);
    to = Math.min(end, us + (to - us) * f);
    if (to - from < end / 1e5) to = from + end / 1e5;
    draw();
  };
  canvas.onpointerdown = e => { drag = e.clientX; moved = false; canvas.setPointerCapture(e.pointerId); };
  canvas.onpointermove = e => {
    if (drag !== null) {
      const shift = (drag - e.clientX) * (to - from) / Math.max(1, canvas.clientWidth - names());
      if (Math.abs(drag - e.clientX) > 3) moved = true;
      if (moved) { const by = Math.max(-from, Math.min(end - to, shift)); from += by; to += by; drag = e.clientX; draw(); }
    }
    const { hit, left, top } = at(e);
    tip.hidden = !hit;
    if (!hit) return;
    tip.textContent = hit.title;
    tip.style.left = Math.min(left + 12, box.clientWidth - 240) + "px";
    tip.style.top = top + 14 + "px";
  };
  canvas.onpointerup = e => { drag = null; const { hit } = at(e); if (!moved && hit?.node) open(hit.node); };
  canvas.onpointerleave = () => { tip.hidden = true; };
  tip.hidden = true;
  new ResizeObserver(draw).observe(box);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  return make("div", "", box, make("div", "tools-row", button("whole run", "Show the whole run", () => { from = 0; to = end; draw(); }), make("span", "soft", "Wheel: zoom. Drag: move. Click: show the node.")));
}

function timelineTab(open) {
  const box = make("section", "text-tab");
  if (data.timeline) {
    const t = data.timeline, end = t.spans.reduce((m, s) => Math.max(m, s.start_us + s.us), t.run_us);
    const spans = t.spans.map(s => ({ row: s.row, start: s.start_us, us: s.us, hue: kindOf(s.op)[1], label: s.node || s.op, node: s.node, title: `${cut(s.node || s.op, 120)} (${s.op}), ${showUs(s.us)} from ${showUs(Math.max(0, s.start_us))} on` }));
    box.append(make("div", "card", make("h3", "", "A run, measured"),
      make("div", "soft", `${showUs(t.run_us)}` + (t.runs > 1 ? `, the run of median length of ${t.runs.toLocaleString("en")} recorded ones` : ", one recorded run") + ". A row of a stream shows when the device worked; that of a thread when the host computed or queued." + (t.spans_left_out ? ` ${plural(t.spans_left_out, "shorter step")} are left out.` : "")),
      lanes(t.rows, spans, end, open)));
  }
  if (data.schedule) {
    const s = data.schedule, critical = new Set(s.critical_path), idle = lane => lane.work_us === 0 && lane.wait_us === 0;
    const kept = s.lanes.map((lane, i) => i).filter(i => i === 0 || !idle(s.lanes[i])), rowOf = new Map(kept.map((lane, i) => [lane, i]));
    const spans = s.spans.map(span => {
      const chain = critical.has(span.task === null ? span.step : span.task) && span.kind === "work";
      return { row: rowOf.get(span.lane), start: span.start_us, us: span.stop_us - span.start_us, hue: chain ? 140 : kindOf(span.op)[1], faint: span.kind !== "work", label: span.node || span.op, node: span.node,
               title: `${span.kind === "work" ? "" : span.kind + ": "}${cut(span.node || span.op, 120)} (${span.op}), step ${span.step}${span.task === null ? "" : ", task " + span.task}, ${showUs(span.stop_us - span.start_us)} from ${showUs(span.start_us)} on` };
    });
    box.append(make("div", "card", make("h3", "", "The plan, estimated"),
      make("div", "soft", `All times are estimates, not measured. ${plural(s.threads, "thread")}` + (kept.length < s.lanes.length ? ` (${s.lanes.length - kept.length} with nothing to do)` : "") +
        `: the run takes ${showUs(s.makespan_us)}, work ${showUs(s.work_us)}, the critical path ${showUs(s.critical_path_us)} (in green).` + (s.spans_left_out ? ` ${plural(s.spans_left_out, "shorter step")} are left out.` : "")),
      lanes(kept.map(i => ({ name: s.lanes[i].name })), spans, Math.max(s.makespan_us, 1e-9), open)));
  }
  if (data.critical_path?.links?.length) {
    const c = data.critical_path;
    box.append(make("div", "card", make("h3", "", "Critical path"), make("div", "soft", `The longest chain of ${c.of} that wait for each other, by the times of the run above: ${showUs(c.us)} of ${showUs(c.run_us)}.`), tableOf([
      { name: "node", get: r => r.name ?? r.node ?? "", show: r => linkTo(r.name ?? r.node ?? "", open, cutFront(r.name ?? r.node ?? "", 60)) }, { name: "op", get: r => r.op || "" }, { name: "time", num: true, get: r => r.us ?? 0, show: r => showUs(r.us) }], c.links, 30)));
  }
  return box;
}

function memoryTab(open) {
  const m = data.memory, box = make("section", "text-tab");
  const figure = (name, value, note) => make("div", "card figure", make("div", "soft", name), make("div", "big", value), make("div", "soft", note || ""));
  box.append(make("div", "cards figures", figure("weights", showBytes(m.weights_bytes), "constants that runs read"), figure("arena", showBytes(m.arena_bytes), `at least ${showBytes(m.arena_lower_bound_bytes)} in this order of steps`),
    figure("process", showBytes(m.peak_rss_mb * 1048576), "at most so far")));
  if (!m.values.length) {
    box.append(make("div", "card soft", "Nothing lies in the arena: shapes are known in the run only, or all results are handed out."));
    return box;
  }
  const width = 1000, height = 300, steps = Math.max(1, m.steps), x = step => width * step / steps, top = Math.max(1, m.arena_bytes), y = bytes => height - height * bytes / top;
  const map = svgMake("svg", { class: "map", viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img", "aria-label": "values in the arena by step and address" });
  const said = make("div", "soft said", "Each box is a value: its place in the arena from the step that writes it to the last that reads it.");
  for (const v of m.values) {
    const r = svgMake("rect", { class: "coloured value", x: x(v.first_step), width: Math.max(1, x(v.last_step + 1) - x(v.first_step)), y: y(v.offset + v.bytes), height: Math.max(0.5, height * v.bytes / top) });
    r.style.setProperty("--hue", kindOf(v.op)[1]);
    const title = svgMake("title", {});
    title.textContent = `${cut(v.name, 200)} (${v.op}), ${showBytes(v.bytes)} at ${v.offset}, steps ${v.first_step} to ${v.last_step}`;
    r.append(title);
    r.onpointerenter = () => { said.textContent = title.textContent; };
    r.onclick = () => open(v.name.replace(/:\d+$/, ""));
    map.append(r);
  }
  const change = new Float64Array(steps + 2);
  for (const v of m.values) { change[v.first_step] += v.bytes; change[v.last_step + 1] -= v.bytes; }
  let live = 0, line = `M0,${height}`;
  for (let i = 0; i < steps; ++i) { live += change[i]; line += ` L${x(i).toFixed(2)},${y(live).toFixed(2)} L${x(i + 1).toFixed(2)},${y(live).toFixed(2)}`; }
  map.append(svgMake("path", { class: "live", d: line, "vector-effect": "non-scaling-stroke" }));
  box.append(make("div", "card", make("h3", "", "The arena over the plan"), make("div", "map-box", make("span", "soft axis", showBytes(m.arena_bytes)), map),
    make("div", "axis-row soft", make("span", "", "step 0"), make("span", "", "line: bytes in use"), make("span", "", `step ${m.steps}`)), said));
  box.append(make("div", "card", make("h3", "", "Largest values"), tableOf([
    { name: "value", get: v => v.name, show: v => linkTo(v.name.replace(/:\d+$/, ""), open, cutFront(v.name, 60)) }, { name: "op", get: v => v.op, show: v => cut(v.op, 40) }, { name: "bytes", num: true, get: v => v.bytes, show: v => showBytes(v.bytes) },
    { name: "from step", num: true, get: v => v.first_step }, { name: "to step", num: true, get: v => v.last_step }], m.values, 20),
    m.values_left_out ? make("div", "soft", `${plural(m.values_left_out, "smaller value")} are left out`) : ""));
  return box;
}

function resultTab() {
  const box = make("section", "text-tab");
  if (data.bench) {
    const b = data.bench, figure = (name, value, note) => make("div", "card figure", make("div", "soft", name), make("div", "big", value), make("div", "soft", note || ""));
    box.append(make("div", "cards figures", figure("a run, median", showUs(b.p50_us), `95 % interval ${showUs(b.p50_ci95_us[0])} to ${showUs(b.p50_ci95_us[1])}`), figure("least", showUs(b.min_us), `mean ${showUs(b.mean_us)}, most ${showUs(b.max_us)}`),
      figure("90 % / 99 %", `${showUs(b.p90_us)} / ${showUs(b.p99_us)}`, plural(b.count, "run")), figure("rate", `${b.runs_per_s.toFixed(b.runs_per_s < 100 ? 1 : 0)} /s`, `${plural(b.threads, "thread")}, ${b.isa}`),
      figure("plan and first run", `${b.first_ms.toFixed(1)} ms`, `start before them ${b.init_ms.toFixed(1)} ms`)));
    box.append(make("div", "card", make("h3", "", "Each run"), scatterOf(b.run_us, b.p50_us), make("div", "soft", "Time of each run, in the order in which they ran; the line is the median. Runs beyond the upper edge stand on it.")));
  }
  for (const f of data.answer?.fetches || []) box.append(make("div", "card", make("h3", "", cut(f.name, 200)), make("div", "mono soft", f.type), make("pre", "", f.text)));
  const expect = data.answer?.expect || [];
  if (expect.length) {
    box.append(make("div", "card", make("h3", "", "Compared with what was expected"), ...expect.map(c => make("div", c.ok ? "new" : "gone", c.ignored ? `${cut(c.name, 120)}: not compared` : c.ok ? `${cut(c.name, 120)}: right, largest difference ${c.max_abs}, ${c.max_ulp} ulps`
      : `${cut(c.name, 120)}: ${c.problem || `differs in ${plural(c.mismatches, "place")}`}`))));
  }
  return box;
}

function scatterOf(us, median) {
  const width = 1000, height = 160, sorted = [...us].sort((a, b) => a - b), low = sorted[0], high = Math.max(sorted[Math.floor(0.98 * (sorted.length - 1))], median * 1.05, low + 1e-9);
  const y = v => height - 6 - (height - 16) * Math.min(1, (v - low) / (high - low));
  const svg = svgMake("svg", { class: "map scatter", viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img", "aria-label": "time of each run" });
  const dots = us.map((v, i) => `M${(width * (i + 0.5) / us.length).toFixed(1)},${y(v).toFixed(1)} h0.01`).join("");
  svg.append(svgMake("path", { class: "dots", d: dots, "vector-effect": "non-scaling-stroke" }), svgMake("path", { class: "median", d: `M0,${y(median)} H${width}`, "vector-effect": "non-scaling-stroke" }));
  return make("div", "map-box", make("span", "soft axis", showUs(high)), svg, make("span", "soft axis low", showUs(low)));
}

function aboutTab() {
  const a = data.about, m = a.machine, box = make("section", "text-tab"), t = data.times_ms;
  box.append(make("div", "card", make("h3", "", "Command line"), make("pre", "", cut(a.command, 4000)),
    button("Copy", "Copy the command line", e => navigator.clipboard?.writeText(a.command).then(() => { e.target.textContent = "Copied"; }), "copy")));
  if (t) {
    const stages = [["load", t.load], ["optimize", t.optimize], ["place", t.place], ["plan", t.plan], ["first run", t.first_run]].filter(([, ms]) => ms > 0), most = Math.max(...stages.map(([, ms]) => ms), 1e-9);
    box.append(make("div", "card", make("h3", "", "Stages"), ...stages.map(([name, ms]) => {
      const fill = make("i", "coloured");
      fill.style.setProperty("--hue", 205);
      fill.style.width = 100 * ms / most + "%";
      return make("div", "op-row stage-row", make("span", "", name), make("span", "gauge", fill), make("span", "num", showUs(ms * 1000)));
    })));
  }
  box.append(make("div", "card", make("h3", "", "Machine and version"), row("processor", m.processor || "not known"), row("cores", `${m.cores} for this process, ${plural(a.threads, "thread")} computed`), row("instructions", m.isa),
    row("memory", showBytes(m.memory_bytes)), row("system", m.system), row("graph_run", m.version)));
  return box;
}
