#include "element_groups.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "../ops/fused_program.h"
#include "element_node.h"

namespace opencl {
namespace {

constexpr size_t kNone = SIZE_MAX;

std::string_view NodeOfInput(std::string_view input) {
  if (!input.empty() && input[0] == '^') return input.substr(1);
  return input.substr(0, input.rfind(':'));
}

// "node" for "node:0".
std::string_view Short(std::string_view input) {
  return input.size() > 2 && input.substr(input.size() - 2) == ":0"
             ? input.substr(0, input.size() - 2)
             : input;
}

// "/job:j/replica:0/task:0/device:GPU:0" is of type "GPU".
std::string TypeOfDevice(std::string_view device) {
  constexpr std::string_view kDevice = "/device:";
  const size_t begin = device.find(kDevice);
  if (begin == device.npos) return "";
  const std::string_view type = device.substr(begin + kDevice.size());
  return std::string(type.substr(0, type.find(':')));
}

class Finder {
 public:
  Finder(const GraphView& graph, const InferredShapes& shapes,
         const std::unordered_set<std::string>& device_types,
         const std::unordered_set<std::string_view>& preserve)
      : graph_(graph), shapes_(shapes), preserve_(preserve), nodes_(graph.nodes.size()) {
    for (size_t i = 0; i < graph.nodes.size(); ++i) by_name_.emplace(graph.nodes[i].name, i);
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const NodeView& node = graph.nodes[i];
      if (device_types.count(TypeOfDevice(node.device)) == 0 || node.Find("_class") != nullptr)
        continue;
      nodes_[i].statement =
          ElementNodeOf(node, [&](std::string_view input) { return ShapeOf(Short(input)); });
    }
    NoteReaders();
  }

  std::vector<ElementGroup> Run() {
    SortCandidates();
    for (auto i = order_.rbegin(); i != order_.rend(); ++i) Join(*i);
    std::vector<ElementGroup> groups;
    for (Growing& group : groups_) {
      if (group.inputs.empty()) continue;
      const std::optional<GroupEnd> end = EndOf(group);
      if (group.members.size() > 1 || end) groups.push_back(Finished(group, end));
    }
    return groups;
  }

 private:
  struct Node {
    std::optional<ElementNode> statement;  // nothing: no candidate
    std::vector<size_t> readers;           // of its first output
    bool must_stay = false;                // others than readers need the node
    size_t group = kNone;
    bool sorted = false;
  };
  struct Growing {
    size_t root = 0;
    std::vector<size_t> members;        // readers before what they read
    std::set<std::string_view> inputs;  // as Short names; constants of the program excluded
  };

  // Only the first output has a shape here.
  NodeShape ShapeOf(std::string_view input) {
    const auto found = by_name_.find(input);
    if (found == by_name_.end()) return std::nullopt;
    const auto [known, is_new] = known_shapes_.try_emplace(found->second);
    if (is_new) known->second = shapes_.Of(input);
    return known->second;
  }

  void NoteReaders() {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      for (const std::string_view input : graph_.nodes[i].inputs) {
        const auto found = by_name_.find(NodeOfInput(input));
        if (found == by_name_.end()) continue;
        Node& read = nodes_[found->second];
        if (Short(input) == graph_.nodes[found->second].name) {
          read.readers.push_back(i);
        } else {
          read.must_stay = true;
        }
      }
      // A node that others are colocated with.
      if (const NodeView::Attr* colocated = graph_.nodes[i].Find("_class"))
        NoteColocated(*colocated);
    }
  }

  void NoteColocated(const NodeView::Attr& colocated) {
    constexpr int kList = 1, kString = 2;
    constexpr std::string_view kPrefix = "loc:@";
    FieldReader reader(colocated.value);
    for (Field list; reader.Next(&list);) {
      if (list.number != kList) continue;
      FieldReader names(list.content);
      for (Field name; names.Next(&name);) {
        if (name.number != kString || name.content.substr(0, kPrefix.size()) != kPrefix) continue;
        const auto found = by_name_.find(name.content.substr(kPrefix.size()));
        if (found != by_name_.end()) nodes_[found->second].must_stay = true;
      }
    }
  }

  // Candidates, what they read before them. No cycle has candidates alone: each goes through a node
  // of control flow.
  void SortCandidates() {
    struct Frame {
      size_t node, next = 0;
    };
    std::vector<Frame> stack;
    for (size_t start = 0; start < nodes_.size(); ++start) {
      if (Visit(start)) stack.push_back({start});
      while (!stack.empty()) {
        Frame& top = stack.back();
        const std::vector<std::string_view>& inputs = graph_.nodes[top.node].inputs;
        if (top.next == inputs.size()) {
          order_.push_back(top.node);
          stack.pop_back();
          continue;
        }
        const auto found = by_name_.find(Short(inputs[top.next++]));
        if (found != by_name_.end() && Visit(found->second)) stack.push_back({found->second});
      }
    }
  }
  bool Visit(size_t i) {
    if (!nodes_[i].statement || nodes_[i].sorted) return false;
    nodes_[i].sorted = true;
    return true;
  }

  // Puts the node into the group of its readers, or begins a group with it.
  void Join(size_t i) {
    const size_t group = GroupFor(i);
    if (group != kNone) {
      std::set<std::string_view> inputs = groups_[group].inputs;
      inputs.erase(graph_.nodes[i].name);
      AddInputs(i, inputs);
      if (inputs.size() <= kMostInputs && groups_[group].members.size() < kMostStatements) {
        groups_[group].inputs = std::move(inputs);
        groups_[group].members.push_back(i);
        nodes_[i].group = group;
        return;
      }
    }
    nodes_[i].group = groups_.size();
    groups_.push_back({i, {i}, {}});
    AddInputs(i, groups_.back().inputs);
    if (groups_.back().inputs.size() > kMostInputs) nodes_[i].group = kNone;  // an AddN of many
  }

  // The one group of all readers, if the node may go there.
  size_t GroupFor(size_t i) {
    const Node& node = nodes_[i];
    if (node.readers.empty() || node.must_stay || preserve_.count(graph_.nodes[i].name) != 0)
      return kNone;
    const size_t group = nodes_[node.readers[0]].group;
    for (const size_t reader : node.readers) {
      if (group == kNone || nodes_[reader].group != group) return kNone;
    }
    const NodeView& root = graph_.nodes[groups_[group].root];
    const bool fits = graph_.nodes[i].device == root.device &&
                      ShapeOf(graph_.nodes[i].name) == ShapeOf(root.name);
    return fits ? group : kNone;
  }

  // What the one reader of the group's result is, if it may stand at the group's end.
  std::optional<GroupEnd> EndOf(const Growing& group) {
    const Node& root = nodes_[group.root];
    const NodeView& node = graph_.nodes[group.root];
    if (root.readers.size() != 1 || root.must_stay || preserve_.count(node.name) != 0)
      return std::nullopt;
    const NodeView& reader = graph_.nodes[root.readers[0]];
    if (reader.device != node.device || reader.Find("_class") != nullptr ||
        Short(reader.inputs[0]) != node.name || nodes_[root.readers[0]].statement)
      return std::nullopt;
    const auto node_of = [&](std::string_view input) -> const NodeView* {
      const auto found = by_name_.find(Short(input));
      return found == by_name_.end() ? nullptr : &graph_.nodes[found->second];
    };
    std::optional<GroupEnd> end = GroupEndOf(reader, ShapeOf(node.name), node_of);
    if (end && group.inputs.size() + end->inputs > kMostInputs) end.reset();
    return end;
  }

  void AddInputs(size_t i, std::set<std::string_view>& inputs) {
    for (const std::string_view input : graph_.nodes[i].inputs) {
      if (Constant(input).empty()) inputs.insert(Short(input));
    }
  }

  // The text of an input that is a constant of a program; else empty.
  const std::string& Constant(std::string_view input) {
    const auto [known, is_new] = constants_.try_emplace(Short(input));
    if (is_new) {
      const auto found = by_name_.find(Short(input));
      if (found != by_name_.end())
        known->second = ConstantText(graph_.nodes[found->second]).value_or("");
    }
    return known->second;
  }

  ElementGroup Finished(Growing& group, const std::optional<GroupEnd>& end) {
    ElementGroup done;
    done.root = end ? nodes_[group.root].readers[0] : group.root;
    done.members.assign(group.members.rbegin(), group.members.rend());
    std::map<std::string_view, std::string> texts;  // of operands, by Short name
    for (size_t k = 0; k < done.members.size(); ++k) {
      const NodeView& node = graph_.nodes[done.members[k]];
      const ElementNode& statement = *nodes_[done.members[k]].statement;
      done.program += (k == 0 ? "" : "; ") + statement.head;
      for (size_t at = 0; at < node.inputs.size(); ++at) {
        std::string& text = texts[Short(node.inputs[at])];
        if (text.empty()) text = Constant(node.inputs[at]);
        if (text.empty()) {
          text = "x" + std::to_string(done.inputs.size());
          done.inputs.push_back(node.inputs[at]);
          done.input_types.push_back(statement.operands[at]);
        }
        done.program += (at == 0 ? "(" : ", ") + text;
      }
      done.program += ")";
      texts[node.name] = "v" + std::to_string(k);
    }
    done.result = TranslateProgram(done.program, done.input_types).result;
    if (!end) return done;
    done.end = *end;
    done.members.push_back(done.root);
    for (size_t k = 1; k <= done.end.inputs; ++k) {
      done.inputs.push_back(graph_.nodes[done.root].inputs[k]);
      done.input_types.push_back(done.end.type);
    }
    return done;
  }

  const GraphView& graph_;
  const InferredShapes& shapes_;
  const std::unordered_set<std::string_view>& preserve_;
  std::unordered_map<std::string_view, size_t> by_name_;
  std::unordered_map<size_t, NodeShape> known_shapes_;
  std::unordered_map<std::string_view, std::string> constants_;
  std::vector<Node> nodes_;
  std::vector<size_t> order_;
  std::vector<Growing> groups_;
};

}  // namespace

std::vector<ElementGroup> FindElementGroups(const GraphView& graph, const InferredShapes& shapes,
                                            const std::unordered_set<std::string>& device_types,
                                            const std::unordered_set<std::string_view>& preserve) {
  return Finder(graph, shapes, device_types, preserve).Run();
}

}  // namespace opencl
