// The message TensorShapeProto: field 2 is a dimension with its size in field 1, field 3 is set for
// an unknown rank.

#include "graph/tensor/shape_wire.h"

#include "absl/status/status.h"
#include "graph/wire/wire.h"

namespace tenon {

absl::StatusOr<PartialShape> ShapeFromWire(std::string_view wire) {
  Dims dims;
  bool unknown_rank = false;
  WireReader reader(wire);
  WireField f;
  while (reader.Next(&f)) {
    if (f.number == 3 && f.type == WireType::kVarint) unknown_rank = f.scalar != 0;
    if (f.number != 2 || f.type != WireType::kBytes) continue;
    if (f.bytes.size() == 2 && f.bytes[0] == 1 << 3 && (f.bytes[1] & 0x80) == 0) {
      dims.push_back(f.bytes[1]);  // as most are: below 128, without a name
      continue;
    }
    int64_t size = 0;
    WireReader dim(f.bytes);
    WireField d;
    while (dim.Next(&d)) {
      if (d.number == 1 && d.type == WireType::kVarint) size = static_cast<int64_t>(d.scalar);
    }
    if (!dim.ok()) return absl::DataLossError("malformed TensorShapeProto bytes");
    dims.push_back(size);
  }
  if (!reader.ok()) return absl::DataLossError("malformed TensorShapeProto bytes");
  if (unknown_rank) {
    if (dims.empty()) return PartialShape();
    return absl::InvalidArgumentError("a shape of unknown rank must not list dimensions");
  }
  return PartialShape::Make(dims);
}

std::string ShapeToWire(const PartialShape& shape) {
  std::string out;
  WireWriter writer(&out);
  if (!shape.known_rank()) writer.Varint(3, 1);
  for (int64_t d : shape.dims()) {
    std::string dim;
    // Like protobuf, which writes no field of value 0: equal shapes are equal bytes. An unknown
    // dimension is -1, a varint of ten bytes.
    if (d != 0) WireWriter(&dim).Varint(1, static_cast<uint64_t>(d));
    writer.Bytes(2, dim);
  }
  return out;
}

}  // namespace tenon
