// What is to be known of a trace: why it was made, what it holds and what its order costs. Used by
// the library's own headers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tenon/internal/function_rep.h"
#include "tenon/internal/graph_copy.h"
#include "tenon/internal/wire.h"

namespace tenon::inline v0::internal {

// Each list is in words, for people.
struct TraceFacts {
  std::string function;            // "step, trace 2"
  std::string why;                 // "the shape of tensor 0 changed from float32(2) to float32(3)"
  int64_t ops = 0;                 // that the program called, and values that became constants
  std::vector<std::string> takes;  // "float32(2, 3)"
  std::vector<std::string> captures;       // "variable w, float32(2, 3), 24 bytes"
  std::vector<std::string> constants;      // "Const, float32(2), 8 bytes, at train.cc:42"
  std::vector<std::string> constant_ops;   // ops that compute of constants alone: "Sin at a.cc:1"
  std::vector<std::string> control_edges;  // "Assign at a.cc:2 waits for Read at a.cc:1"
  // The ops of the longest path through the graph, with the automatic control edges and without.
  int64_t path = 0, path_without_edges = 0;
};

// "float32(2, 3), 24 bytes"; without bytes where they are not known.
inline std::string SizeInWords(DType dtype, const Shape& shape) {
  std::string text = std::string(Name(dtype)) + shape.ToString();
  const size_t size = TF_DataTypeSize(static_cast<TF_DataType>(dtype));
  if (const int64_t count = shape.num_elements(); count >= 0 && size != 0)
    text += ", " + std::to_string(count * static_cast<int64_t>(size)) + " bytes";
  return text;
}

// Finds the facts of a function that was traced: its graph() must not be null.
class FactFinder {
 public:
  explicit FactFinder(const FunctionRep& function)
      : graph_(*function.graph()), nodes_(NodesOf(graph_.graph())) {
    for (size_t i = 0; i < nodes_.size(); ++i) numbers_.emplace(nodes_[i], i);
    places_.resize(nodes_.size());
    for (const auto& [node, where] : graph_.places()) places_[numbers_.at(node)] = where;
    facts_.function = function.note.function;
    facts_.why = function.note.why;
    facts_.takes = function.note.takes;
    facts_.ops = static_cast<int64_t>(graph_.places().size());
    FindCaptures();
    FindConstants();
    FindOrder();
  }
  TraceFacts Take() { return std::move(facts_); }

 private:
  // "dense/MatMul at train.cc:42".
  std::string NameAndPlace(TF_Operation* node) const {
    const std::string name = TF_OperationName(node);
    const std::string place = ToString(places_[numbers_.at(node)]);
    return place.empty() ? name : name + " at " + place;
  }

  void FindCaptures() {
    for (const Tensor& capture : graph_.captures()) {
      if (!capture.defined()) {
        facts_.captures.push_back("a symbol of a trace that is over");
      } else if (capture.dtype() != DType::kResource) {
        facts_.captures.push_back(SizeInWords(capture.dtype(), capture.shape()));
      } else if (const VariableInfo* const variable = capture.get()->variable.get()) {
        facts_.captures.push_back("variable " + variable->name + ", " +
                                  SizeInWords(variable->dtype, variable->shape));
      } else {
        facts_.captures.push_back("a resource");
      }
    }
  }

  void FindConstants() {
    std::vector<bool> is_constant(nodes_.size());
    for (size_t i = 0; i < nodes_.size(); ++i) {
      TF_Operation* const node = nodes_[i];
      const std::string type = TF_OperationOpType(node);
      if (type == "Const") {
        const Shape shape = graph_.Symbol({node, 0}, {}).shape();
        const auto dtype = static_cast<DType>(TF_OperationOutputType({node, 0}));
        const std::string place = ToString(places_[i]);
        facts_.constants.push_back(std::string(TF_OperationName(node)) + ", " +
                                   SizeInWords(dtype, shape) +
                                   (place.empty() ? "" : ", at " + place));
        is_constant[i] = true;
        continue;
      }
      const int count = TF_OperationNumInputs(node);
      bool all = count > 0 && TF_OperationNumControlInputs(node) == 0;
      for (int k = 0; all && k < count; ++k)
        all = is_constant[numbers_.at(TF_OperationInput({node, k}).oper)];
      if (!all || EffectOfOp(type) != Effect::kNone) continue;
      is_constant[i] = true;
      facts_.constant_ops.push_back(NameAndPlace(node));
    }
  }

  // Nodes stand in an order in which each comes behind those that it needs.
  void FindOrder() {
    std::unordered_map<const void*, std::unordered_set<const void*>> automatic;
    for (const auto& [node, before] : graph_.waits()) {
      automatic[node].insert(before);
      facts_.control_edges.push_back(NameAndPlace(node) + " waits for " + NameAndPlace(before));
    }
    std::vector<int64_t> with(nodes_.size()), without(nodes_.size());
    for (size_t i = 0; i < nodes_.size(); ++i) {
      TF_Operation* const node = nodes_[i];
      const auto follow = [&](TF_Operation* before, bool is_automatic) {
        const size_t from = numbers_.at(before);
        with[i] = std::max(with[i], with[from]);
        if (!is_automatic) without[i] = std::max(without[i], without[from]);
      };
      for (int k = 0; k < TF_OperationNumInputs(node); ++k)
        follow(TF_OperationInput({node, k}).oper, false);
      std::vector<TF_Operation*> controls(static_cast<size_t>(TF_OperationNumControlInputs(node)));
      TF_OperationGetControlInputs(node, controls.data(), static_cast<int>(controls.size()));
      const auto waits = automatic.find(node);
      for (TF_Operation* const before : controls)
        follow(before, waits != automatic.end() && waits->second.count(before) != 0);
      const std::string_view type = TF_OperationOpType(node);
      if (type != "Const" && type != "Placeholder") {
        ++with[i];
        ++without[i];
      }
      facts_.path = std::max(facts_.path, with[i]);
      facts_.path_without_edges = std::max(facts_.path_without_edges, without[i]);
    }
  }

  TraceGraph& graph_;
  const std::vector<TF_Operation*> nodes_;
  std::unordered_map<const void*, size_t> numbers_;
  std::vector<Where> places_;  // of the nodes
  TraceFacts facts_;
};

// Returns the facts of a function that has a graph. Takes time linear in its nodes.
inline TraceFacts FactsOf(const FunctionRep& function) { return FactFinder(function).Take(); }

// The facts as indented lines: all of `takes`, and at most twelve entries of each other list.
inline std::string FactLines(const TraceFacts& facts) {
  std::string text = "  takes";
  for (const std::string& taken : facts.takes) text += " " + taken;
  text += "\n  " + std::to_string(facts.ops) + " ops, " + std::to_string(facts.constants.size()) +
          " constants, " + std::to_string(facts.control_edges.size()) +
          " control edges for side effects\n";
  const auto add = [&text](const char* what, const std::vector<std::string>& entries) {
    constexpr size_t kMost = 12;
    for (size_t i = 0; i < entries.size() && i < kMost; ++i) text += what + entries[i] + "\n";
    if (entries.size() > kMost) text += what + std::to_string(entries.size() - kMost) + " more\n";
  };
  add("  captures ", facts.captures);
  add("  constant ", facts.constants);
  add("  computes of constants alone: ", facts.constant_ops);
  add("  control edge: ", facts.control_edges);
  if (!facts.control_edges.empty()) {
    text += "  the longest path has " + std::to_string(facts.path) + " ops, without these edges " +
            std::to_string(facts.path_without_edges) + "\n";
  }
  return text;
}

// The facts as attributes of a node, which TensorFlow keeps and ignores: entries of the map `attr`
// of a NodeDef, which has the number 5.
inline std::string FactAttrs(const TraceFacts& facts) {
  std::string out;
  const auto entry = [&out](const char* name, std::string_view value) {
    std::string bytes;
    wire::Message(bytes, 1, std::string("_tenon_trace_") + name);
    wire::Message(bytes, 2, value);
    wire::Message(out, 5, bytes);
  };
  const auto list = [&entry](const char* name, const std::vector<std::string>& texts) {
    std::string values;
    for (const std::string& text : texts) wire::Message(values, 2, text);
    entry(name, wire::Text(1, values));
  };
  entry("function", wire::Text(2, facts.function));
  entry("why", wire::Text(2, facts.why));
  list("takes", facts.takes);
  list("captures", facts.captures);
  list("constants", facts.constants);
  list("constant_ops", facts.constant_ops);
  list("control_edges", facts.control_edges);
  for (const auto& [name, value] : {std::pair<const char*, int64_t>("ops", facts.ops),
                                    {"path", facts.path},
                                    {"path_without_edges", facts.path_without_edges}}) {
    std::string number;
    wire::Int(number, 3, value);
    entry(name, number);
  }
  return out;
}

// Puts the facts of functions into the bytes of a GraphDef: those of functions that it has in its
// library to their first node, those of `main`, unless it is null, to the node of the graph that is
// named `node`. The functions, and those that they call, must outlive the writer.
class FactWriter {
 public:
  FactWriter(const FunctionRep* main, std::string node) : main_(main), node_(std::move(node)) {}

  // Of the function and of those that it calls, if a Function traced them.
  void Add(const FunctionRep& function) {
    AddOne(function);
    if (function.graph() == nullptr) return;
    // Those that the called ones call are among them.
    for (const auto& callee : function.graph()->callees()) AddOne(*callee);
  }

  // Returns the bytes of `graph_def` with the facts.
  std::string Write(std::string_view graph_def) const {
    std::string out;
    for (wire::Reader graph(graph_def); graph.Next();) {
      if (graph.field == 1) {
        wire::Message(out, 1, Node(graph.bytes));
      } else if (graph.field == 2) {
        wire::Message(out, 2, Library(graph.bytes));
      } else {
        out += graph.raw;
      }
    }
    return out;
  }

 private:
  void AddOne(const FunctionRep& function) {
    if (!function.note.why.empty()) known_.emplace(function.name(), &function);
  }
  std::string Node(std::string_view def) const {
    std::string out(def);
    for (wire::Reader node(def); main_ != nullptr && node.Next();) {
      if (node.field != 1) continue;
      if (node.bytes == node_) out += FactAttrs(FactsOf(*main_));
      break;
    }
    return out;
  }
  std::string Library(std::string_view library) const {
    std::string out;
    for (wire::Reader functions(library); functions.Next();) {
      out += functions.field == 1 ? wire::Text(1, Function(functions.bytes))
                                  : std::string(functions.raw);
    }
    return out;
  }
  // FunctionDef { signature = 1 { name = 1 }, node_def = 3 }. The facts stand at the first node:
  // TensorFlow takes attributes of functions by a list of names.
  std::string Function(std::string_view def) const {
    const FunctionRep* of = nullptr;
    for (wire::Reader function(def); function.Next();) {
      if (function.field != 1) continue;
      for (wire::Reader signature(function.bytes); signature.Next();) {
        if (signature.field != 1) continue;
        const auto known = known_.find(std::string(signature.bytes));
        if (known != known_.end()) of = known->second;
      }
    }
    std::string out;
    for (wire::Reader function(def); function.Next();) {
      if (of == nullptr || function.field != 3) {
        out += function.raw;
        continue;
      }
      wire::Message(out, 3, std::string(function.bytes) + FactAttrs(FactsOf(*of)));
      of = nullptr;
    }
    return out;
  }

  const FunctionRep* const main_;
  const std::string node_;
  std::unordered_map<std::string, const FunctionRep*> known_;
};

}  // namespace tenon::inline v0::internal
