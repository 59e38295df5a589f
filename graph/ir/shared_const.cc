// Makes constants whose elements are aligned, so that kernels can read them in place, and lets
// several graphs use one kind. The bytes of the TensorProto are written here so that the elements
// come last and JoinAligned can put them where it wants.

#include "graph/ir/shared_const.h"

#include <string>
#include <utility>
#include <vector>

#include "graph/ir/graph_storage.h"
#include "graph/ir/library_access.h"
#include "graph/wire/wire.h"

namespace tenon {
namespace {

// Not above kMaxInternedBytes: a smaller constant may share the kind of another node, and then its
// own aligned copy would be in vain.
constexpr size_t kFewBytes = 1024;

// Of a field that holds `bytes` bytes.
std::string BeginBytes(uint32_t field, size_t bytes) {
  std::string begin;
  WireWriter writer(&begin);
  writer.RawVarint(field << 3 | static_cast<uint32_t>(WireType::kBytes));
  writer.RawVarint(bytes);
  return begin;
}

// An AttrValue of a TensorProto, up to its elements, which come last.
std::string BeforeElements(const Tensor& value) {
  std::string shape, tensor;
  WireWriter dims(&shape);
  for (const int64_t size : value.shape().dims()) {
    std::string dim;
    WireWriter(&dim).Varint(1, static_cast<uint64_t>(size));
    dims.Bytes(2, dim);
  }
  WireWriter fields(&tensor);
  fields.Varint(1, static_cast<uint64_t>(value.dtype()));
  fields.Bytes(2, shape);
  tensor += BeginBytes(4, value.bytes());
  return BeginBytes(8, tensor.size() + value.bytes()) + tensor;
}

}  // namespace

absl::Status MakeAlignedConst(Graph& graph, NodeId n, const Tensor& value) {
  const bool plain = IsMemcpyable(value.dtype()) && value.dtype() != DataType::kBool;
  if (!plain || value.bytes() < kFewBytes) return graph.MakeConst(n, value);
  GraphStorage& storage = LibraryAccess::Storage(graph);
  const std::string_view elements(static_cast<const char*>(value.data()), value.bytes());
  const std::string_view wire = storage.JoinAligned(BeforeElements(value), elements);
  LibraryAccess::SetKind(
      graph, n, "Const",
      {{"dtype", AttrValue(storage.Copy(attr::Type(value.dtype())))}, {"value", AttrValue(wire)}});
  return absl::OkStatus();
}

void BecomeSharedConst(Graph& graph, NodeId n, const Graph& holder, NodeId constant) {
  LibraryAccess::ShareKind(graph, n, holder.kind(constant));
}

bool IsAligned(const Graph& graph, const Tensor& value) {
  return LibraryAccess::Storage(graph).Aligns(value.data());
}

}  // namespace tenon
