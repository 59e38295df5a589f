#include "executor/cli/graphs/trace_notes.h"

#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/values/text.h"
#include "graph/base/one_line.h"
#include "graph/functions/function_body.h"
#include "graph/functions/function_library.h"

namespace tenon::cli {
namespace {

constexpr std::pair<std::string_view, std::vector<std::string> TraceNote::*> kLists[] = {
    {"takes", &TraceNote::takes},
    {"captures", &TraceNote::captures},
    {"constants", &TraceNote::constants},
    {"constant_ops", &TraceNote::constant_ops},
    {"control_edges", &TraceNote::control_edges},
};
constexpr std::pair<std::string_view, int64_t TraceNote::*> kNumbers[] = {
    {"ops", &TraceNote::ops},
    {"path", &TraceNote::path},
    {"path_without_edges", &TraceNote::path_without_edges},
};

const AttrValue* FindNote(const AttrSet& attrs, std::string_view name) {
  return attrs.Find(absl::StrCat("_tenon_trace_", name));
}

// A text of the file in one line; empty if it is none.
std::string TextOf(const AttrSet& attrs, std::string_view name) {
  const AttrValue* const value = FindNote(attrs, name);
  return value == nullptr ? std::string() : OneLine(value->AsString().value_or(""));
}

std::optional<TraceNote> NoteOf(const AttrSet& attrs) {
  if (FindNote(attrs, "why") == nullptr) return std::nullopt;
  TraceNote note;
  note.function = TextOf(attrs, "function");
  note.why = TextOf(attrs, "why");
  for (const auto& [name, member] : kLists) {
    const AttrValue* const value = FindNote(attrs, name);
    if (value == nullptr) continue;
    const absl::StatusOr<std::vector<std::string_view>> list = value->AsStringList();
    if (!list.ok()) continue;
    for (const std::string_view text : *list) (note.*member).push_back(OneLine(text));
  }
  for (const auto& [name, member] : kNumbers) {
    if (const AttrValue* const value = FindNote(attrs, name))
      note.*member = value->AsInt().value_or(0);
  }
  return note;
}

// The nodes that tensors need, and the functions that these reach.
class Needed {
 public:
  Needed(const Graph& graph, const std::vector<std::string>& fetches) : graph_(graph) {
    std::vector<NodeId> nodes;
    const auto add = [&](NodeId n) {
      if (n != kNoNode && nodes_.insert(n).second) nodes.push_back(n);
    };
    for (const std::string& fetch : fetches)
      add(graph.FindNode(std::string_view(fetch).substr(0, fetch.find(':'))));
    while (!nodes.empty()) {
      const NodeId n = nodes.back();
      nodes.pop_back();
      for (const Output& input : graph.inputs(n)) add(input.node);
      Add(CalledBy(graph.op_name(n), graph.attrs(n)));
    }
    while (!to_follow_.empty()) {
      const FunctionEntry* const function = to_follow_.back();
      to_follow_.pop_back();
      for (const BodyNode& node : ParseFunctionBody(graph, *function).nodes)
        Add(CalledBy(node.op_name(), node.attrs()));
    }
  }

  bool Has(NodeId n) const { return nodes_.contains(n); }
  bool Has(std::string_view function) const { return functions_.contains(function); }

 private:
  void Add(const std::vector<std::string_view>& names) {
    for (const std::string_view name : names) {
      const FunctionEntry* const function = graph_.FindFunction(name);
      if (function == nullptr || !functions_.insert(function->name).second) continue;
      to_follow_.push_back(function);
    }
  }

  const Graph& graph_;
  absl::flat_hash_set<NodeId> nodes_;
  absl::flat_hash_set<std::string_view> functions_;
  std::vector<const FunctionEntry*> to_follow_;
};

// At most twelve lines.
void AppendLines(std::string_view what, const std::vector<std::string>& entries,
                 std::string* text) {
  constexpr size_t kMost = 12;
  for (size_t i = 0; i < entries.size() && i < kMost; ++i)
    absl::StrAppend(text, "  ", what, entries[i], "\n");
  if (entries.size() > kMost) absl::StrAppend(text, "  ", what, entries.size() - kMost, " more\n");
}

}  // namespace

std::vector<TraceNote> TraceNotesOf(const Graph& graph, const std::vector<std::string>& fetches) {
  std::vector<TraceNote> notes;
  const auto add = [&notes](const AttrSet& attrs) {
    if (std::optional<TraceNote> note = NoteOf(attrs)) notes.push_back(*std::move(note));
  };
  const Needed needed(graph, fetches);
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (graph.alive(n) && (fetches.empty() || needed.Has(n))) add(graph.attrs(n));
  }
  for (const FunctionEntry& function : graph.functions()) {
    if (!fetches.empty() && !needed.Has(function.name)) continue;
    for (const BodyNode& node : ParseFunctionBody(graph, function).nodes) add(node.attrs());
  }
  return notes;
}

std::string TraceNotesText(const std::vector<TraceNote>& notes) {
  std::string text;
  for (const TraceNote& note : notes) {
    absl::StrAppend(&text, note.function, ": because ", note.why, "\n  takes ",
                    note.takes.empty() ? "nothing" : absl::StrJoin(note.takes, " "), "\n  ",
                    Plural(note.ops, "op"), ", ",
                    Plural(static_cast<int64_t>(note.constants.size()), "constant"), ", ",
                    Plural(static_cast<int64_t>(note.control_edges.size()), "control edge"),
                    " for side effects\n");
    AppendLines("captures ", note.captures, &text);
    AppendLines("constant ", note.constants, &text);
    AppendLines("computes of constants alone: ", note.constant_ops, &text);
    AppendLines("control edge: ", note.control_edges, &text);
    if (!note.control_edges.empty()) {
      absl::StrAppend(&text, "  the longest path has ", Plural(note.path, "op"),
                      ", without these edges ", note.path_without_edges, "\n");
    }
  }
  return text;
}

Json TraceNotesJson(const std::vector<TraceNote>& notes) {
  Json array = Json::Array();
  for (const TraceNote& note : notes) {
    Json json = Json::Object();
    json.Set("function", note.function).Set("why", note.why);
    for (const auto& [name, member] : kNumbers) json.Set(name, note.*member);
    for (const auto& [name, member] : kLists) json.Set(name, Json::ArrayOf(note.*member));
    array.Push(std::move(json));
  }
  return array;
}

}  // namespace tenon::cli
