// Self-checking graphs: files whose cases carry their own answers. Each scope of a file ("c000/…")
// is one case: a graph of its own, with the nodes of other scopes that it reaches.
//
//   c000/op      the op under test; output i is fetched for every c000/want<i>
//   c000/fetch   (NoOp) instead: its list `fetch` names the tensors; want<i> belongs to the i-th
//   c000/want<i> (Const) the answer
//   c000/error   (NoOp) instead of answers: `code` that import or run must fail with. The node at
//                fault is the one that TensorFlow's `message` names ("{{node c000/op}}"); where it
//                names none, it is a node that is fetched, or one that is needed for it and no
//                constant
//   c000/tol     (NoOp) `rtol`, `atol` in place of the dtype's own
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/cli/tensors/expect.h"
#include "graph/io/io.h"

namespace tenon::cli {

struct ExpectedError {
  absl::StatusCode code;
  std::vector<NodeId> nodes;  // of which one is at fault
};

struct CheckCase {
  std::string name;           // "c000"
  std::vector<NodeId> nodes;  // those of its scope, then the others that it reaches
  std::vector<std::string> fetches;
  std::vector<std::pair<size_t, NodeId>> wants;  // index into fetches, Const node
  std::optional<ExpectedError> error;            // what is right instead of answers
  std::optional<Tolerance> tolerance;            // of the tol node
  std::vector<Defect> defects;                   // of its nodes, in the file's order
  bool unknown_op = false;                       // some node has no OpDef
  std::string malformed;                         // why this is no case by the convention
};

struct CheckFile {
  Graph graph;
  std::vector<CheckCase> cases;  // in the file's order
};

// INVALID_ARGUMENT and the like for files that are no graph, or an invalid one without any case.
absl::StatusOr<CheckFile> ReadCheckFile(const std::string& path, const ImportLimits& limits);

// The graph of one case alone.
Graph GraphOfCase(const CheckFile& file, const CheckCase& c);

// The tolerance for a dtype where there is no tol node.
Tolerance DefaultTolerance(DataType dtype);

}  // namespace tenon::cli
