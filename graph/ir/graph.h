// The in-memory graph: flat arrays, stable node ids, ports on every edge. Attributes, names and
// constants stay where the file put them and are decoded on demand.
// Reading is thread-safe; editing a graph is not. Copies share their storage and may be read and
// edited on different threads.
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

// One output of a node, named by the node and the number of the output among all tensors that the
// node gives. Port kControlPort is the control output. A node of kNoNode stands for no output.
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

// Everything about a node but its name, device and inputs. Interned: nodes of one graph with equal
// op and equal attributes of at most kMaxInternedBytes mostly share one NodeKind, so that types are
// resolved once. Equal addresses mean equal kinds. The reverse must not be relied on: larger kinds
// are not looked for, a graph of many kinds forgets them now and then, and a plug-in may have
// brought the op in between. Immutable.
inline constexpr size_t kMaxInternedBytes = 1024;  // of names and values of the attributes together
struct NodeKind {
  std::string_view op_name;
  uint32_t index = 0;  // dense among the kinds of one storage: for side tables
  // Of the registry, or a function's signature; null for an unknown op and a malformed function.
  const OpDef* op = nullptr;
  AttrSet attrs;              // of the node; sorted by name
  AttrSet defaults;           // the OpDef's defaults of the attributes that the node lacks
  NodeTypes types;            // empty unless types_status is OK or ResolveOpenTypes succeeds
  absl::Status types_status;  // why types could not be resolved
};

// Where a node stands in its file: line and column of text, byte offset of binary; all 0 for nodes
// that were made later without a position.
struct SourcePos {
  uint32_t line = 0;    // 1-based; 0 in binary files
  uint32_t column = 0;  // 1-based in text; unused in binary files
  uint64_t offset = 0;  // bytes from the start of the (decompressed) file
};

// Bytes that a graph refers to: the file, and an append-only arena. Shared by copies of a graph and
// by tensors decoded from it (graph/ir/graph_storage.h).
class GraphStorage;

// One function of the library, kept as wire bytes: the body is decoded on demand. Views of the
// storage of the graph that has the function.
struct FunctionEntry {
  std::string_view name;
  std::string_view wire;             // FunctionDef bytes
  const OpDef* signature = nullptr;  // owned by the storage; null if malformed
  SourcePos pos;
};

class Graph {
 public:
  Graph();
  Graph(const Graph&);  // O(nodes + edges); shares storage
  Graph& operator=(const Graph&);
  Graph(Graph&&) noexcept;
  Graph& operator=(Graph&&) noexcept;
  ~Graph();

  // Returns a copy whose edits put nothing into the storage of this graph. The copy keeps that
  // storage alive. For copies that are edited again and again while this graph lives. This graph
  // and its other copies must not be edited during the call. O(nodes + edges).
  Graph Snapshot() const;

  // --- Reading. Ids run from 0 to num_node_ids() - 1; the ids of removed nodes are not used
  // again. Kind, op, facts, attributes and types may be asked of live nodes only. A removed node
  // has no inputs. Views of names, devices and attributes live as long as the storage.
  int32_t num_node_ids() const { return static_cast<int32_t>(nodes_.size()); }
  int32_t num_nodes() const { return live_; }
  bool alive(NodeId n) const { return nodes_[n].kind != nullptr; }
  std::string_view name(NodeId n) const { return nodes_[n].name; }
  const NodeKind& kind(NodeId n) const { return *nodes_[n].kind; }
  std::string_view op_name(NodeId n) const { return nodes_[n].kind->op_name; }
  const OpDef* op(NodeId n) const { return nodes_[n].kind->op; }
  // The facts of the node's op, whatever the node's attributes are; none for an unknown op.
  const OpFacts& facts(NodeId n) const { return FactsOfOp(nodes_[n].kind->op); }
  std::string_view device(NodeId n) const { return nodes_[n].device; }
  const AttrSet& attrs(NodeId n) const { return nodes_[n].kind->attrs; }
  // The attribute of the node, or the OpDef's default, or null. The pointer lives as long as the
  // storage.
  const AttrValue* attr(NodeId n, std::string_view name) const;

  // Data inputs in order, then control inputs (port kControlPort). A hole left by a defect has node
  // kNoNode. A span is valid until the inputs of any node are edited or a node is added: all nodes
  // share one array.
  std::span<const Output> inputs(NodeId n) const {
    return {edges_.data() + nodes_[n].first_input, nodes_[n].num_data + nodes_[n].num_control};
  }
  std::span<const Output> data_inputs(NodeId n) const {
    return inputs(n).first(nodes_[n].num_data);
  }
  std::span<const Output> control_inputs(NodeId n) const {
    return inputs(n).subspan(nodes_[n].num_data);
  }
  // The number of data inputs. A defect may give a node more or fewer than the types have.
  int num_inputs(NodeId n) const { return static_cast<int>(nodes_[n].num_data); }
  // num_outputs is 0 and no type may be asked where NodeKind::types is empty. Types may be asked of
  // inputs and outputs that the types have, and not of control edges.
  int num_outputs(NodeId n) const { return static_cast<int>(nodes_[n].kind->types.outputs.size()); }
  DataType input_type(NodeId n, int i) const { return nodes_[n].kind->types.inputs[i]; }
  DataType output_type(Output o) const { return nodes_[o.node].kind->types.outputs[o.port]; }

  // Returns the live node of this name; kNoNode if there is none. Of several nodes of one name, a
  // defect that a file may have, it is the first by id that is alive.
  NodeId FindNode(std::string_view name) const;
  // Reads "node", "node:1" or "^node". NOT_FOUND, with a similar name if there is one, if no node
  // has the name. INVALID_ARGUMENT for a port that is no number, has zeros in front ("node:01"), or
  // that the node does not have: "node" is port 0.
  absl::StatusOr<Output> ParseOutput(std::string_view text) const;
  // "node" for port 0, "node:1", "^node"; "<missing>" for no output.
  std::string OutputName(Output o) const;

  // --- Editing. Names and bytes are copied into the storage. Edits keep all other ids. Nothing
  // checks types, arity or cycles: the verifier does (graph/verify/defect.h).
  struct NewAttr {
    std::string_view name;
    std::string wire;  // AttrValue bytes, as from attr::Type(...)
  };
  // Adds a node and returns its id, the next one. Control inputs may stand anywhere in `inputs`. Of
  // attributes of equal names the last counts. The op is looked up in the function library, then in
  // the registry; an unknown op is no error. `pos` (often that of the node that the new one
  // replaces) serves error messages. ALREADY_EXISTS for a name that is taken, INVALID_ARGUMENT for
  // an input from kNoNode or an id that no node has had, RESOURCE_EXHAUSTED for more than 2^30
  // edges, in which the room counts that edits have left unused. After an error the graph is as it
  // was.
  absl::StatusOr<NodeId> AddNode(std::string_view name, std::string_view op,
                                 std::span<const Output> inputs, std::vector<NewAttr> attrs,
                                 std::string_view device = {}, SourcePos pos = {});
  // AddNode for texts that live as long as the storage, such as those that Keep returns, and
  // attributes that are sorted by name, each name once: nothing is copied. `extra` is bytes of the
  // fields of NodeDef that the host does not interpret.
  struct NodeViews {
    std::string_view name, op, device;
    std::vector<Attr> attrs;
    std::string_view extra;
  };
  absl::StatusOr<NodeId> AddNode(NodeViews node, std::span<const Output> inputs);
  // Keep returns a copy of `bytes` that lives as long as the storage; for no bytes, a view with
  // null data. KeepAlive keeps the owner of other bytes as long.
  std::string_view Keep(std::string_view bytes);
  void KeepAlive(std::shared_ptr<const void> owner);
  // Replaces the bytes of NodeViews::extra; the bytes are copied.
  void SetExtra(NodeId n, std::string_view fields);
  std::string_view extra(NodeId n) const;
  // Takes the node of the highest id out, which no node has as an input: its id is free again. What
  // the node brought into the storage stays there.
  void RemoveLastNode();
  // Returns a name that no node has: `base`, else base_1, base_2 … The number need not be the
  // least. Takes logarithmically many look-ups.
  std::string UniqueName(std::string_view base) const;
  // Removes n. The caller has moved the edges that begin at n. Does nothing for a removed node.
  void RemoveNode(NodeId n);
  // Sets an input that n has: i counts data inputs, then control inputs. `from` must be a control
  // output exactly where input i is a control input.
  void SetInput(NodeId n, int i, Output from);
  // Sets all inputs of n. The spans may be views of this graph's inputs.
  void SetInputs(NodeId n, std::span<const Output> data, std::span<const Output> control);
  // Makes n wait for `from`; does nothing if a control input from there exists.
  void AddControlInput(NodeId n, NodeId from);
  void SetDevice(NodeId n, std::string_view device);
  // Sets the attribute to AttrValue bytes, whether or not n has it.
  void SetAttr(NodeId n, std::string_view name, std::string wire);
  // Does nothing if n has no such attribute.
  void RemoveAttr(NodeId n, std::string_view name);
  // Gives n this op and these attributes and no others; of equal names the last counts. Name,
  // device, inputs and position stay.
  void SetKind(NodeId n, std::string_view op, std::vector<NewAttr> attrs);
  // SetKind, but n also keeps the attributes that belong to the node whatever its op is: names that
  // begin with '_', but for the kernel's label (_kernel) and notes on inputs and outputs that may
  // be others now (NumbersInputsOrOutputs). _output_shapes, also a given one, stays only if the
  // types of the outputs do. Of a kept and a given attribute of equal names the given one counts.
  void BecomeOp(NodeId n, std::string_view op, std::vector<NewAttr> attrs);
  // Makes n a Const of this value, by BecomeOp; its data inputs go, its control inputs stay. Errors
  // are those of TensorToWire; n is then as it was.
  absl::Status MakeConst(NodeId n, const Tensor& value);

  // Replaces the VersionDef bytes.
  void SetVersions(std::string_view wire);

  // Returns the value of n's attribute `value`, as a view of the file's bytes where the encoding
  // allows: then the data may be unaligned, and the tensor keeps the storage alive. Decodes at each
  // call. INVALID_ARGUMENT if n has no such attribute, or one that is no tensor; other errors are
  // those of TensorFromWire. The op of n is not asked.
  absl::StatusOr<Tensor> ConstValue(NodeId n) const;
  // Lets the file pages of a view that ConstValue returned leave memory, if the file is mapped;
  // reading the view again brings them back. Does nothing for other tensors.
  void DropPages(const Tensor& view) const;

  // --- Function library and versions.
  // The graph's own functions, in the order of the file, added ones behind.
  const std::vector<FunctionEntry>& functions() const { return functions_; }
  // The function of this name: the graph's own; else, in the graph of a function's body, one of the
  // graph around it. Null if there is none. The pointer is valid until functions are edited.
  const FunctionEntry* FindFunction(std::string_view name) const;
  // The op that a node with this op name would have: a function's signature, else a registered op.
  // Null if there is neither, and for a malformed function even if an op is registered.
  const OpDef* FindOp(std::string_view name) const;
  // VersionDef bytes; data() is null where the file had none.
  std::string_view versions_wire() const { return versions_; }
  int producer() const;  // versions.producer; 0 if absent. Parses the bytes at each call

  // --- Where things came from.
  SourcePos pos(NodeId n) const { return nodes_[n].place.pos(); }
  const std::string& source_name() const { return source_name_; }  // for messages; may be empty
  // Returns "file:line:col" or "file: byte N"; "node 'x'" for a node that has no position.
  std::string Locate(NodeId n) const;
  std::string Locate(SourcePos pos) const;  // the file's name alone for a position that is none
  // Takes the name of the source from `before`, and for each node the position of the node of its
  // name there. Nodes whose name `before` lacks lose their position.
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

  absl::Status CheckNewNode(std::string_view name, uint64_t hash,
                            std::span<const Output> inputs) const;
  // Adds a node that has its name, kind, device and place. `hash` is that of the name.
  NodeId Append(Node node, uint64_t hash, std::span<const Output> inputs);
  bool HasName(NodeId n, std::string_view name) const { return nodes_[n].name == name; }
  const NodeKind* Intern(std::string_view op_name, std::vector<Attr> sorted_attrs);
  // 0 for attributes that are too large: to hash and compare a large constant would cost more than
  // to share its kind saves.
  static uint64_t KindHash(std::string_view op_name, const std::vector<Attr>& attrs);
  // The kind that is interned already; null if none is. `hash` is KindHash of op and attributes.
  const NodeKind* FindKind(uint64_t hash, std::string_view op_name,
                           const std::vector<Attr>& sorted_attrs) const;
  // Adds a kind, whose attributes live as long as the storage. It is interned if `hash` is not 0.
  const NodeKind* AddKind(uint64_t hash, std::string_view op_name, const OpDef* op,
                          std::vector<Attr> sorted_attrs);
  // The kind of this op and these attributes, whose bytes are copied if the kind is new.
  const NodeKind* InternNew(std::string_view op_name, std::vector<NewAttr> attrs);
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

// The uses of every output, in one array by producer. Built once, in O(nodes + edges); edits of the
// graph do not show. Uses of a node come in the order of the consumers' ids and, for one consumer,
// of its inputs. Back edges of loops count. Reading is thread-safe.
class Fanouts {
 public:
  struct Use {
    NodeId node;    // the consumer
    int32_t input;  // its index into inputs(node)
    int32_t port;   // the output of the producer; kControlPort for a control edge
  };
  explicit Fanouts(const Graph& graph);
  // n must have been an id when the object was made. Empty for a node that had been removed, unless
  // another node still read it.
  std::span<const Use> of(NodeId n) const {
    return {uses_.data() + begin_[n], uses_.data() + begin_[n + 1]};
  }
  // The number of uses of one output, by a sweep over all uses of the node.
  int count(Output o) const;

 private:
  std::vector<uint32_t> begin_;
  std::vector<Use> uses_;
};

// Returns the live nodes, producers first; edges into a Merge from a NextIteration do not count. If
// the order of ids is such an order, returns it; else nodes are visited by id, and each comes
// behind those of its producers that have not come yet. INVALID_ARGUMENT describes one cycle, as
// DescribeCycle (cycles.h) does. Linear time unless there is a cycle, no recursion.
absl::StatusOr<std::vector<NodeId>> TopologicalOrder(const Graph& graph);

}  // namespace tenon
