
// The heading and the tabs.
const graphTab = new GraphTab();
const tabs = [["graph", "Graph", graphTab.element]];
const passes = passesTab(name => openNode(name));
if (data.passes.length) tabs.push(["passes", "Passes", passes]);
if (data.after.nodes.some(n => n.on)) tabs.push(["placement", "Placement", placementTab(name => openNode(name))]);
if (data.times) tabs.push(["times", "Times", timesTab(name => openNode(name))]);
if (data.timeline || data.schedule) tabs.push(["timeline", "Timeline", timelineTab(name => openNode(name))]);
if (data.memory) tabs.push(["memory", "Memory", memoryTab(name => openNode(name))]);
if (data.answer || data.bench) tabs.push(["result", data.answer ? "Answer" : "Figures", resultTab()]);
if (data.about) tabs.push(["about", "About", aboutTab()]);

const tabButtons = new Map();
let drawnOnce = false;
function openTab(id) {
  for (const [key, , element] of tabs) {
    element.hidden = key !== id;
    tabButtons.get(key).setAttribute("aria-selected", key === id);
  }
  tabButtons.get(id).scrollIntoView({ block: "nearest", inline: "nearest" });
  if (id === "graph" && !drawnOnce) { drawnOnce = true; graphTab.redraw(true); }
}
function openNode(name) {
  openTab("graph");
  return graphTab.focus(name);
}

document.title = `${cut(data.title, 60)} · graph_run report`;
document.getElementById("title").textContent = data.title;
const ran = data.passes.filter(p => !p.skipped), changing = ran.filter(p => p.changed).length;
document.getElementById("summary").textContent = [
  `${plural(data.before.count, "node")}, ${data.after.count.toLocaleString("en")} after optimization`,
  ran.length ? `${changing} of ${plural(ran.length, "pass run")} changed it` : "",
  data.bench ? `${showUs(data.bench.p50_us)} a run (median of ${data.bench.count.toLocaleString("en")})` : data.timeline ? `${showUs(data.timeline.run_us)} a run` : "",
  data.about ? `graph_run ${data.about.machine.version}` : ""].filter(Boolean).join("  ·  ");
if (data.about?.status) {
  const failure = document.getElementById("failure");
  failure.textContent = `${data.about.status.code}: ${data.about.status.message}`;
  failure.hidden = false;
}
for (const [id, label, element] of tabs) {
  const e = button(label, label, () => { openTab(id); history.replaceState(null, "", "#" + (id === "graph" ? "" : "tab=" + id)); });
  e.setAttribute("role", "tab");
  element.setAttribute("role", "tabpanel");
  element.hidden = true;
  tabButtons.set(id, e);
  document.getElementById("tabs").append(e);
  document.getElementById("views").append(element);
}
addEventListener("resize", () => graphTab.apply());

// report.html#tab=memory opens a tab, report.html#node shows a node.
function openLinked() {
  let linked = location.hash.slice(1);
  try { linked = decodeURIComponent(linked); } catch { /* not an escape of ours */ }
  const tab = linked.startsWith("tab=") && linked.slice(4);
  openTab(tab && tabButtons.has(tab) ? tab : "graph");
  if (linked && !tab) graphTab.focus(linked);
}
addEventListener("hashchange", openLinked);
openLinked();
