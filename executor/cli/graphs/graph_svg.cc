#include "executor/cli/graphs/graph_svg.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "executor/cli/graphs/graph_dot.h"
#include "executor/cli/graphs/layered_layout.h"
#include "executor/values/tensor_text.h"
#include "graph/base/one_line.h"
#include "graph/op_defs/op_facts.h"

namespace tenon::cli {
namespace {

constexpr double kHead = 24, kLine = 14, kPad = 10;
constexpr size_t kMostConstants = 4;

constexpr char kStyle[] =
    "<style>svg{background:var(--page);--page:#fff;--ink:#1b2330;--soft:#5f6b80;--line:#cfd7e3;--"
    "card:#fff;--s:62%;--l:86%}"
    "@media(prefers-color-scheme:dark){svg{--page:#11151b;--ink:#e3e8f1;--soft:#97a3b8;--line:#"
    "3c475a;"
    "--card:#1a2029;--s:34%;--l:27%}}"
    "text{font:10px system-ui,sans-serif;fill:var(--soft)}.o{font:600 12px system-ui,sans-serif;"
    "fill:var(--ink);text-anchor:middle}.n{font-size:11px;fill:var(--ink);text-anchor:middle}"
    ".b{fill:var(--card);stroke:var(--line)}.h{fill:hsl(var(--hue) var(--s) var(--l))}"
    ".e{fill:none;stroke:var(--soft)}.c{stroke-dasharray:4 3}.a{fill:var(--soft)}</style>";

// Bytes beyond these make a line of a box longer than a screen is wide.
constexpr size_t kMostChars = 36;

std::string Shortened(std::string_view text) {
  std::string line = OneLine(text);
  if (line.size() <= kMostChars) return line;
  size_t from = line.size() - kMostChars;
  // Not within a character.
  while (from < line.size() && (static_cast<unsigned char>(line[from]) & 0xC0) == 0x80) ++from;
  return absl::StrCat("…", line.substr(from));
}

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '&':
        escaped += "&amp;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        // XML has no other control characters, not even escaped ones.
        escaped += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return escaped;
}

// A colour of the wheel for each kind of op, which what the op's row says tells.
int HueOf(const OpFacts& op) {
  if (op.placeholder || op.from_outside || op.state != State::kNone) return 45;
  if (op.calls != CallKind::kNone || op.flow != FlowRole::kNone) return 320;
  switch (op.cost.rule) {
    case CostRule::kProduct:
    case CostRule::kEinsum:
    case CostRule::kLargestTwo:
    case CostRule::kMatrix:
      return 205;
    case CostRule::kWindow:
    case CostRule::kChannelWindow:
    case CostRule::kWindowOfInput:
    case CostRule::kWindowOfFilter:
      return 235;
    case CostRule::kReduce:
    case CostRule::kPool:
    case CostRule::kPoolGradient:
      return 170;
    case CostRule::kMove:
      return 265;
    default:
      return op.fuses == Fuses::kActivation ? 0 : 95;
  }
}

// The lines of a node's box: op, name, device, constants.
struct BoxText {
  NodeId node = kNoNode;
  std::vector<std::string> lines;
};

class SvgWriter {
 public:
  SvgWriter(const Graph& graph, const GraphShapes& shapes)
      : graph_(graph), shapes_(shapes), inside_(ConstantsInside(graph)) {}

  std::string Write() {
    AddBoxes();
    AddEdges();
    LayOut(layout_);
    std::string svg = absl::StrFormat(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 "
        "%.0f %.0f\">\n%s\n<defs><marker id=\"a\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" "
        "markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path class=\"a\" "
        "d=\"M0,0.5L8,4L0,7.5z\"/></marker></defs>\n",
        layout_.width, layout_.height, layout_.width, layout_.height, kStyle);
    for (size_t e = 0; e < layout_.edges.size(); ++e) AppendEdge(e, svg);
    for (size_t b = 0; b < boxes_.size(); ++b) AppendBox(b, svg);
    return svg + "</svg>\n";
  }

 private:
  std::string TypeOf(Output o) const {
    if (graph_.op(o.node) == nullptr) return "";  // nothing is known of an unknown op's outputs
    return TypeText(graph_.output_type(o), shapes_.shape(o));
  }
  void AddBoxes();
  void AddEdges();
  void AppendBox(size_t b, std::string& svg) const;
  void AppendEdge(size_t e, std::string& svg) const;

  const Graph& graph_;
  const GraphShapes& shapes_;
  const std::vector<bool> inside_;
  std::vector<BoxText> boxes_;
  std::vector<std::pair<bool, std::string>> edge_texts_;  // control, type
  LayeredLayout layout_;
};

void SvgWriter::AddBoxes() {
  for (NodeId n = 0; n < graph_.num_node_ids(); ++n) {
    if (!graph_.alive(n) || inside_[n]) continue;
    BoxText box{n, {Shortened(graph_.op_name(n)), Shortened(graph_.name(n))}};
    if (!graph_.device(n).empty()) box.lines.push_back(Shortened(graph_.device(n)));
    size_t constants = 0;
    for (const Output& in : graph_.inputs(n)) {
      if (in.node == kNoNode || !inside_[in.node] || ++constants > kMostConstants) continue;
      box.lines.push_back(absl::StrCat(Shortened(graph_.name(in.node)), " ", TypeOf(in)));
    }
    if (constants > kMostConstants)
      box.lines.push_back(absl::StrCat("and ", constants - kMostConstants, " constants more"));
    double width = 0;
    for (size_t i = 0; i < box.lines.size(); ++i) {
      const double of_char = i == 0 ? 7.4 : i == 1 ? 6.4 : 5.8;
      width = std::max(width, of_char * static_cast<double>(box.lines[i].size()));
    }
    const auto lines = static_cast<double>(box.lines.size() - 1);
    layout_.boxes.push_back(
        {.width = std::max(60.0, width) + 2 * kPad, .height = kHead + kLine * lines + 6});
    boxes_.push_back(std::move(box));
  }
}

void SvgWriter::AddEdges() {
  std::vector<int32_t> box_of(graph_.num_node_ids(), -1);
  for (size_t b = 0; b < boxes_.size(); ++b) box_of[boxes_[b].node] = static_cast<int32_t>(b);
  for (size_t b = 0; b < boxes_.size(); ++b) {
    for (const Output& in : graph_.inputs(boxes_[b].node)) {
      if (in.node == kNoNode || box_of[in.node] < 0) continue;
      layout_.edges.push_back({box_of[in.node], static_cast<int32_t>(b), {}});
      edge_texts_.emplace_back(in.is_control(), in.is_control() ? "" : TypeOf(in));
    }
  }
}

void SvgWriter::AppendBox(size_t b, std::string& svg) const {
  const LayoutBox& at = layout_.boxes[b];
  const BoxText& box = boxes_[b];
  absl::StrAppendFormat(
      &svg, "<g transform=\"translate(%.1f,%.1f)\" style=\"--hue:%d\"><title>%s (%s)</title>",
      at.x - at.width / 2, at.y - at.height / 2, HueOf(graph_.facts(box.node)),
      Escaped(OneLine(graph_.name(box.node))), Escaped(OneLine(graph_.op_name(box.node))));
  absl::StrAppendFormat(
      &svg,
      "<rect class=\"b\" width=\"%.1f\" height=\"%.1f\" rx=\"6\"/><path class=\"h\" "
      "d=\"M.5,24V6Q.5,.5 6,.5H%.1fQ%.1f,.5 %.1f,6V24z\"/>",
      at.width, at.height, at.width - 6, at.width - .5, at.width - .5);
  for (size_t i = 0; i < box.lines.size(); ++i) {
    const double y = i == 0 ? 16 : kHead + kLine * static_cast<double>(i);
    absl::StrAppendFormat(&svg, "<text%s x=\"%.1f\" y=\"%.1f\">%s</text>",
                          i == 0   ? " class=\"o\""
                          : i == 1 ? " class=\"n\""
                                   : "",
                          i < 2 ? at.width / 2 : kPad, y, Escaped(box.lines[i]));
  }
  svg += "</g>\n";
}

void SvgWriter::AppendEdge(size_t e, std::string& svg) const {
  const auto& points = layout_.edges[e].points;
  if (points.size() < 2) return;
  const auto& [control, type] = edge_texts_[e];
  absl::StrAppendFormat(&svg, "<path class=\"e%s\" marker-end=\"url(#a)\" d=\"M%.1f,%.1f",
                        control ? " c" : "", points[0].first, points[0].second);
  for (size_t i = 1; i < points.size(); ++i) {
    const auto& [x0, y0] = points[i - 1];
    const auto& [x1, y1] = points[i];
    const double middle = (y0 + y1) / 2;
    absl::StrAppendFormat(&svg, "C%.1f,%.1f %.1f,%.1f %.1f,%.1f", x0, middle, x1, middle, x1, y1);
  }
  svg += "\"/>\n";
  if (type.empty()) return;
  // Beside the first piece, in the gap below the row.
  const double x = points[0].first + (points[1].first - points[0].first) * 0.3;
  absl::StrAppendFormat(&svg, "<text x=\"%.1f\" y=\"%.1f\">%s</text>\n", x + 5,
                        points[0].second + 18, Escaped(type));
}

}  // namespace

absl::StatusOr<std::string> GraphSvg(const Graph& graph, const GraphShapes& shapes) {
  if (graph.num_nodes() > kMostDrawn) {
    return absl::OutOfRangeError(absl::StrCat("--svg: the graph has ", graph.num_nodes(),
                                              " nodes; a drawing has at most ", kMostDrawn));
  }
  return SvgWriter(graph, shapes).Write();
}

}  // namespace tenon::cli
