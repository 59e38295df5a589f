// What may be wrong with a graph, and finding it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/ir/graph.h"

namespace tenon {

enum class DefectCode : uint8_t {
  kSyntax,      // bytes that are no GraphDef
  kLimit,       // a limit of ImportLimits
  kName,        // malformed or duplicate node name
  kUnknownOp,   // no OpDef
  kArity,       // number of inputs does not fit the OpDef
  kInput,       // unknown node, bad port, data input after a control input
  kType,        // input type does not match
  kAttr,        // missing, ill-typed or not allowed
  kCycle,       // outside legal loops
  kColocation,  // _class names an unknown node
  kDevice,      // malformed device string
  kConst,       // tensor that does not decode
  kShape,       // a shape function refuses the node
  kPlugin,      // a plug-in's shape function fails: no fault of the graph
  kFunction,    // malformed or duplicate function
  kNoFunction,  // an attribute names a function that is not there
  kVersion,     // producer, min_consumer, deprecated op
  kKernel,      // no device can run the node: what import does not look for
  kSignature,   // of a SavedModel: a signature, saver or asset that names no tensor of the graph
};

struct Defect {
  DefectCode code;
  std::string where;             // "file:line:col" or "file:offset"
  std::string node;              // empty for file-level defects
  std::string message;           // what is wrong, in which node, what would be right
  bool in_function = false;      // of the library
  std::string ToString() const;  // "where: message"
};

// Whether the graph can do without the part that has the defect: a node of an unknown op, or one
// that calls what is not there, may not be needed.
inline bool MayBeUnused(const Defect& defect) {
  return defect.code == DefectCode::kUnknownOp || defect.code == DefectCode::kNoFunction;
}

// Every defect of a graph in memory: what import finds, for graphs that passes or plug-ins changed.
std::vector<Defect> Verify(const Graph& graph);
// Those of its nodes, not of functions. `sound` is a graph without defects of which this one is an
// edited copy: names and attributes that it has too are not looked at again.
std::vector<Defect> VerifyNodes(const Graph& graph, const Graph* sound = nullptr);

}  // namespace tenon
