// Reads self-checking graphs: files of cases with their expected results. Each scope of a file
// ("c000/…") is one case: a graph of its own, with the nodes of other scopes that it needs. The
// scope of a node without '/' in its name is the whole name. A scope that is malformed as a case is
// no case if another scope needs its nodes; otherwise it is a case with CheckCase::malformed.
//
//   c000/op      the op under test; output i is fetched for every c000/want<i>
//   c000/fetch   (NoOp) in place of c000/op: its list `fetch` names the tensors to fetch, and
//                want<i> belongs to the i-th
//   c000/want<i> (Const) the expected value
//   c000/error   (NoOp) in place of expected values: the `code` with which import or run must fail.
//                Without want and fetch nodes, c000/op is fetched.
//                The node at fault is the one that TensorFlow's `message` names
//                ("{{node c000/op}}"). If it names none, one in a function, or one that the file
//                lacks, it is c000/op or another node of the op that the file is named for
//                (Assert.pbtxt), or one that shares a table, an array or a variable with these, or
//                one that depends on any of them. In a case without such nodes any node that is
//                fetched may be at fault, and any node that is needed for it and is no constant.
//                A defect that import finds is the expected error if the shape function refuses
//                the node, if the value of a Const does not decode, or if `message` names the
//                attribute that is at fault ('block_size')
//   c000/tol     (NoOp) `rtol` and `atol` in place of those of the dtype, for integers too. A
//                missing one is 0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/values/compare.h"
#include "graph/io/io.h"

namespace tenon::cli {

// What the cases of a file expect: answers as above, or gradients. Expected gradients are those
// that a session computes in its second run, after a first run that computed the loss:
//
//   c000/loss    the scalar that is differentiated
//   c000/wrt     (NoOp) its list `wrt` names tensors; its list `grads` says for which of them there
//                is a gradient, all if it is missing. Others must have none, or zeros
//   c000/d<i>    (Const) the expected gradient of the i-th; there is one for each gradient that
//                `grads` asks for, and no other
//   c000/tol     as above
//   nograd       (NoOp) the op has no gradient in TensorFlow: this is no case
enum class CheckKind : uint8_t { kAnswers, kGradients };

// The error that a case must fail with.
struct ExpectedError {
  absl::StatusCode code;
  std::string message;        // TensorFlow's
  std::vector<NodeId> nodes;  // one of them must be the node at fault; the first is the likeliest
  bool any_node = false;      // `nodes` are all that are needed: nothing says which is at fault
};

// What a case of gradients differentiates.
struct GradientTask {
  std::string loss;
  std::vector<std::string> wrt;
  std::vector<bool> exists;  // for each of wrt
};

// One case. Its nodes are those of CheckFile::graph.
struct CheckCase {
  std::string name;  // "c000"
  // Those of its scope, then the others that these, the fetches and `wrt` of `gradients` need.
  std::vector<NodeId> nodes;
  std::vector<std::string> fetches;
  // Index into fetches, and the Const node with the expected value. The index is beyond the fetches
  // only if the case is malformed.
  std::vector<std::pair<size_t, NodeId>> wants;
  // Of a case of gradients. Its fetches, until the gradients are added, are the loss, and the
  // indices in `wants` count the tensors of `wrt`.
  std::optional<GradientTask> gradients;
  std::vector<size_t> zeros;           // indices into fetches: these values must be zeros
  std::optional<ExpectedError> error;  // of the error node; nothing without one
  std::optional<Tolerance> tolerance;  // of the tol node
  std::vector<Defect> defects;         // of its nodes, in the order of the file
  bool unknown_op = false;             // a node has no OpDef
  std::string malformed;               // why it breaks the convention; empty: it does not
};

// A file with its cases.
struct CheckFile {
  Graph graph;
  std::vector<CheckCase> cases;  // in the order of the file
};

// The op that a file is named for: "Relu" of "ops/Relu.pbtxt.xz".
std::string OpOfFile(const std::string& path);

// Reads a file. An error for a file that is no graph, and for a graph with defects that has no
// cases but malformed ones. In a graph without defects malformed cases are no error. A defect of a
// node goes to the case of its scope and to every case that needs the node. A defect that goes to
// no case is dropped, as are those of the versions and of a function as a whole.
absl::StatusOr<CheckFile> ReadCheckFile(const std::string& path, const ImportLimits& limits,
                                        CheckKind kind = CheckKind::kAnswers);

// A copy of the graph with the nodes of one case alone; the ids stay.
Graph GraphOfCase(const CheckFile& file, const CheckCase& c);

// The tolerance for results of this type in a case without a tol node. Results must be equal if the
// type is neither a float nor complex, or is a float of 8 or 4 bits. Any NaN equals any other.
Tolerance DefaultTolerance(DataType dtype);

}  // namespace tenon::cli
