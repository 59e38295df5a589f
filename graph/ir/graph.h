// The in-memory graph: flat arrays, stable node ids, ports on every edge. Attributes, names and
// constants stay where the file put them and are decoded on demand.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "graph/ir/name_index.h"
#include "graph/op_defs/attr_set.h"
#include "graph/op_defs/op_def.h"
#include "graph/tensor/dtype.h"
#include "graph/tensor/tensor.h"

namespace tenon {

using NodeId = int32_t;
inline constexpr NodeId kNoNode = -1;
inline constexpr int32_t kControlPort = -1;

// One output of a node; port kControlPort is its control output.
struct Output {
  NodeId node = kNoNode;
  int32_t port = 0;
  bool is_control() const { return port == kControlPort; }
  friend bool operator==(const Output&, const Output&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const Output& o) {
    return H::combine(std::move(h), o.node, o.port);
  }
};

// Everything about a node but its name, device and inputs. Interned: two nodes of one graph with
// equal op and equal attributes of at most kMaxInternedBytes share one NodeKind, so that types are
// resolved once and equality is one pointer comparison.
inline constexpr size_t kMaxInternedBytes = 1024;
struct NodeKind {
  std::string_view op_name;
  uint32_t index = 0;         // dense among the kinds of one storage: for side tables
  const OpDef* op = nullptr;  // null: unknown op
  AttrSet attrs;
  AttrSet defaults;           // the OpDef's, of the attributes that the node lacks
  NodeTypes types;            // empty unless types_status is OK
  absl::Status types_status;  // why types could not be resolved
};

// Where a node stands in its file: line and column of text, byte offset of binary; 0,0 for nodes
// made later.
struct SourcePos {
  uint32_t line = 0;    // 1-based; 0 in binary files
  uint32_t column = 0;  // 1-based in text; unused in binary files
  uint64_t offset = 0;  // bytes from the start of the (decompressed) file
};

// Bytes that a graph refers to: the file, and an append-only arena. Shared by copies of a graph and
// by tensors decoded from it.
class GraphStorage;

// One function of the library, kept as wire bytes until somebody asks.
struct FunctionEntry {
  std::string_view name;
  std::string_view wire;             // FunctionDef bytes
  const OpDef* signature = nullptr;  // owned by the storage; null if malformed
  SourcePos pos;
};

class Graph {
 public:
  Graph();
  Graph(const Graph&);  // O(nodes); shares storage
  Graph& operator=(const Graph&);
  Graph(Graph&&) noexcept;
  Graph& operator=(Graph&&) noexcept;
  ~Graph();

  // --- Reading. Ids run from 0 to num_node_ids() - 1; removed ones are not alive.
  int32_t num_node_ids() const { return static_cast<int32_t>(nodes_.size()); }
  int32_t num_nodes() const { return live_; }
  bool alive(NodeId n) const { return nodes_[n].kind != nullptr; }
  std::string_view name(NodeId n) const { return nodes_[n].name; }
  const NodeKind& kind(NodeId n) const { return *nodes_[n].kind; }
  std::string_view op_name(NodeId n) const { return nodes_[n].kind->op_name; }
  const OpDef* op(NodeId n) const { return nodes_[n].kind->op; }
  // What is true of the node's op, whatever its attributes are; nothing of an unknown one.
  const OpFacts& facts(NodeId n) const { return FactsOfOp(nodes_[n].kind->op); }
  std::string_view device(NodeId n) const { return nodes_[n].device; }
  const AttrSet& attrs(NodeId n) const { return nodes_[n].kind->attrs; }
  // The attribute, or the OpDef's default, or null.
  const AttrValue* attr(NodeId n, std::string_view name) const;

  // Data inputs in order, then control inputs (port kControlPort). A hole left by a defect has node
  // kNoNode. Spans are valid until the node's inputs are edited or a node is added.
  std::span<const Output> inputs(NodeId n) const {
    return {edges_.data() + nodes_[n].first_input, nodes_[n].num_data + nodes_[n].num_control};
  }
  std::span<const Output> data_inputs(NodeId n) const {
    return inputs(n).first(nodes_[n].num_data);
  }
  std::span<const Output> control_inputs(NodeId n) const {
    return inputs(n).subspan(nodes_[n].num_data);
  }
  int num_inputs(NodeId n) const { return static_cast<int>(nodes_[n].num_data); }
  int num_outputs(NodeId n) const { return static_cast<int>(nodes_[n].kind->types.outputs.size()); }
  DataType input_type(NodeId n, int i) const { return nodes_[n].kind->types.inputs[i]; }
  DataType output_type(Output o) const { return nodes_[o.node].kind->types.outputs[o.port]; }

  // kNoNode when there is none.
  NodeId FindNode(std::string_view name) const;
  // "node", "node:1" or "^node". NOT_FOUND or INVALID_ARGUMENT name what is wrong and the closest
  // name.
  absl::StatusOr<Output> ParseOutput(std::string_view text) const;
  std::string OutputName(Output o) const;  // "node", "node:1", "^node"

  // --- Editing. Names and bytes are copied into the storage. Edits keep all other ids.
  struct NewAttr {
    std::string_view name;
    std::string wire;  // AttrValue bytes, as from attr::Type(...)
  };
  // The op is looked up in the function library, then the registry. ALREADY_EXISTS for a name that
  // is taken. `pos` (often that of the node it replaces) serves error messages.
  absl::StatusOr<NodeId> AddNode(std::string_view name, std::string_view op,
                                 std::span<const Output> inputs, std::vector<NewAttr> attrs,
                                 std::string_view device = {}, SourcePos pos = {});
  // A name not yet taken: `base`, else base_1, base_2 …
  std::string UniqueName(std::string_view base) const;
  void RemoveNode(NodeId n);  // edges that point to it must have been moved before
  void SetInput(NodeId n, int i, Output from);  // i counts data inputs, then control inputs
  void SetInputs(NodeId n, std::span<const Output> data, std::span<const Output> control);
  void AddControlInput(NodeId n, NodeId from);  // nothing when it is there already
  void SetDevice(NodeId n, std::string_view device);
  void SetAttr(NodeId n, std::string_view name, std::string wire);
  void RemoveAttr(NodeId n, std::string_view name);
  // Gives n this op and these attributes and no others; name, device and position stay.
  void SetKind(NodeId n, std::string_view op, std::vector<NewAttr> attrs);
  // Turns n into another op. Beside these attributes it keeps those that belong to the node
  // whatever its op is, under names that begin with '_', but for its kernel's label and what says
  // something of inputs and outputs that may be others now.
  void BecomeOp(NodeId n, std::string_view op, std::vector<NewAttr> attrs);
  // Makes n a Const of this value, by BecomeOp; its data inputs go, its control inputs stay.
  absl::Status MakeConst(NodeId n, const Tensor& value);

  // The value of a Const node's `value` attribute as a view of the file's bytes where its encoding
  // allows. The data of such a view may be unaligned (see Tensor users: executor aligns what is
  // computed on). INVALID_ARGUMENT for malformed tensors.
  absl::StatusOr<Tensor> ConstValue(NodeId n) const;
  // Lets the file pages of such a view leave memory, where the file is mapped; reading it again
  // brings them back.
  void DropPages(const Tensor& view) const;

  // --- Function library and versions.
  const std::vector<FunctionEntry>& functions() const { return functions_; }
  const FunctionEntry* FindFunction(std::string_view name) const;
  // The op that a node of this name would be: a function's signature or a registered op; null if
  // neither.
  const OpDef* FindOp(std::string_view name) const;
  std::string_view versions_wire() const { return versions_; }
  int producer() const;  // versions.producer, 0 if absent

  // --- Where things came from.
  SourcePos pos(NodeId n) const { return nodes_[n].place.pos(); }
  const std::string& source_name() const { return source_name_; }  // file name, "<stdin>" or empty
  // "file:line:col" or "file:offset"; the node's name alone when it was made by a pass.
  std::string Locate(NodeId n) const;
  std::string Locate(SourcePos pos) const;  // the file's name alone for a position that is none
  // Takes the source and the positions of nodes of the same name from the graph that this one was
  // made from; others have none.
  void InheritPositions(const Graph& before);

 private:
  friend class GraphReader;    // graph/io/graph_reader.cc: builds the arrays from wire bytes
  friend class GraphWriter;    // graph/io/graph_writer.cc
  friend class LibraryAccess;  // graph/ir/library_access.cc

  // A SourcePos in 8 bytes: an offset, or a line and a column under the top bit.
  class Place {
   public:
    Place() = default;
    explicit Place(SourcePos p)
        : bits_(p.line == 0 ? p.offset : kText | uint64_t{p.line & 0x7fffffff} << 32 | p.column) {}
    SourcePos pos() const {
      if ((bits_ & kText) == 0) return {0, 0, bits_};
      return {static_cast<uint32_t>((bits_ & ~kText) >> 32), static_cast<uint32_t>(bits_), 0};
    }

   private:
    static constexpr uint64_t kText = uint64_t{1} << 63;
    uint64_t bits_ = 0;
  };

  // One cache line: large graphs are bound by memory.
  struct alignas(64) Node {
    std::string_view name;
    const NodeKind* kind = nullptr;  // null: removed
    std::string_view device;
    uint32_t first_input = 0;
    uint32_t num_data = 0;
    uint32_t num_control = 0;
    uint32_t capacity = 0;  // of its range of edges_
    Place place;
  };

  bool HasName(NodeId n, std::string_view name) const { return nodes_[n].name == name; }
  const NodeKind* Intern(std::string_view op_name, std::vector<Attr> sorted_attrs);
  // One that is interned already; null if none is. `hash`: of both.
  const NodeKind* FindKind(uint64_t hash, std::string_view op_name,
                           const std::vector<Attr>& sorted_attrs) const;
  const NodeKind* FindKind(std::string_view op_name, const std::vector<Attr>& sorted_attrs) const;
  std::vector<Attr> CopyAttrs(std::vector<NewAttr> attrs);
  void ReplaceAttr(NodeId n, std::string_view name, const NewAttr* attr);
  Output* ReserveInputs(NodeId n, size_t count);

  std::shared_ptr<GraphStorage> storage_;
  std::vector<Node> nodes_;
  std::vector<Output> edges_;
  int32_t live_ = 0;
  NameIndex by_name_;                                     // the first of each name
  absl::flat_hash_map<uint64_t, const NodeKind*> kinds_;  // by hash of op and attributes
  // NodeDef fields that the host does not interpret (debug info, full type, unknown fields), kept
  // for export.
  absl::flat_hash_map<NodeId, std::string_view> extra_;
  std::vector<FunctionEntry> functions_;
  absl::flat_hash_map<std::string_view, int32_t> function_by_name_;
  bool has_library_ = false;  // in the file, though perhaps empty
  std::string_view
      library_extra_;             // gradients, registered gradients, unknown fields of the library
  std::string_view versions_;     // data() is null where the file had none
  std::string_view graph_extra_;  // unknown fields of the GraphDef
  std::string source_name_;
};

// Consumers of every output, as one CSR array: built once, O(nodes + edges), not updated by edits.
class Fanouts {
 public:
  struct Use {
    NodeId node;    // the consumer
    int32_t input;  // its index into inputs(node)
    int32_t port;   // of the producer that is used; kControlPort for a control edge
  };
  explicit Fanouts(const Graph& graph);
  std::span<const Use> of(NodeId n) const {
    return {uses_.data() + begin_[n], uses_.data() + begin_[n + 1]};
  }
  // Number of uses of one output.
  int count(Output o) const;

 private:
  std::vector<uint32_t> begin_;
  std::vector<Use> uses_;
};

// Live nodes, producers first; edges into a Merge from a NextIteration do not count.
// INVALID_ARGUMENT names one cycle's nodes.
absl::StatusOr<std::vector<NodeId>> TopologicalOrder(const Graph& graph);

}  // namespace tenon
