// A comparison by name. Graphs before and after a pass share storage, so that equal names, kinds
// and constants mostly lie at one address, and few bytes are compared.

#include "grappler_lite/provenance/graph_changes.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace tenon {
namespace {

class Pair {
 public:
  Pair(const Graph& before, const Graph& after, NodeId was, NodeId is)
      : before_(before), after_(after), was_(was), is_(is) {}

  bool SameInput(size_t i) const {
    const Output a = before_.inputs(was_)[i], b = after_.inputs(is_)[i];
    if (a.node == kNoNode || b.node == kNoNode) return a.node == b.node;
    const std::string_view was = before_.name(a.node), is = after_.name(b.node);
    return a.port == b.port && SameBytes(was, is);
  }
  bool SameArity() const {
    return before_.num_inputs(was_) == after_.num_inputs(is_) &&
           before_.inputs(was_).size() == after_.inputs(is_).size();
  }
  bool SameOp() const { return before_.op_name(was_) == after_.op_name(is_); }
  bool SameDevice() const { return before_.device(was_) == after_.device(is_); }

  // Attributes of which the two differ, or that one of them lacks.
  std::vector<std::string> OtherAttrs() const {
    std::vector<std::string> names;
    if (&before_.kind(was_) == &after_.kind(is_)) return names;
    const AttrSet &a = before_.attrs(was_), &b = after_.attrs(is_);
    for (const Attr& attr : a.all()) {
      const AttrValue* other = b.Find(attr.name);
      if (other == nullptr || !SameBytes(attr.value.wire(), other->wire()))
        names.emplace_back(attr.name);
    }
    for (const Attr& attr : b.all()) {
      if (a.Find(attr.name) == nullptr) names.emplace_back(attr.name);
    }
    return names;
  }

  bool Same() const {
    if (!SameOp() || !SameDevice() || !SameArity()) return false;
    for (size_t i = 0; i < after_.inputs(is_).size(); ++i) {
      if (!SameInput(i)) return false;
    }
    return OtherAttrs().empty();
  }

  std::string Text() const {
    std::vector<std::string> parts;
    if (!SameOp())
      parts.push_back(absl::StrCat("op ", before_.op_name(was_), " -> ", after_.op_name(is_)));
    if (!SameArity()) {
      parts.push_back(
          absl::StrCat("inputs ", before_.inputs(was_).size(), " -> ", after_.inputs(is_).size()));
    } else {
      for (size_t i = 0; i < after_.inputs(is_).size(); ++i) {
        if (SameInput(i)) continue;
        parts.push_back(absl::StrCat("input ", i, " ", before_.OutputName(before_.inputs(was_)[i]),
                                     " -> ", after_.OutputName(after_.inputs(is_)[i])));
      }
    }
    for (const std::string& name : OtherAttrs()) parts.push_back("attribute " + name);
    if (!SameDevice())
      parts.push_back(
          absl::StrCat("device '", before_.device(was_), "' -> '", after_.device(is_), "'"));
    return absl::StrJoin(parts, ", ");
  }

 private:
  // Large constants mostly are the same bytes in memory.
  static bool SameBytes(std::string_view a, std::string_view b) {
    return a.size() == b.size() && (a.data() == b.data() || a == b);
  }

  const Graph& before_;
  const Graph& after_;
  const NodeId was_, is_;
};

// The node of the other graph that has n's name: mostly n itself, as passes keep ids and names.
NodeId Counterpart(const Graph& graph, NodeId n, const Graph& other) {
  const std::string_view name = graph.name(n);
  const bool is_same =
      n < other.num_node_ids() && other.alive(n) && other.name(n).data() == name.data();
  return is_same ? n : other.FindNode(name);
}

}  // namespace

std::vector<NodeChange> ChangesBetween(const Graph& before, const Graph& after) {
  std::vector<NodeChange> changes;
  for (NodeId n = 0; n < after.num_node_ids(); ++n) {
    if (!after.alive(n)) continue;
    const NodeId was = Counterpart(after, n, before);
    if (was == kNoNode || !Pair(before, after, was, n).Same()) changes.push_back({was, n});
  }
  for (NodeId n = 0; n < before.num_node_ids(); ++n) {
    if (before.alive(n) && Counterpart(before, n, after) == kNoNode)
      changes.push_back({n, kNoNode});
  }
  return changes;
}

std::string ChangeText(const Graph& before, const Graph& after, const NodeChange& change) {
  return Pair(before, after, change.before, change.after).Text();
}

}  // namespace tenon
