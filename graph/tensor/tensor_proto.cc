// TensorProtos to tensors and back. Elements lie in tensor_content or in the list field of the
// dtype; a list that is too short repeats its last element, and an empty one means zeros. Elements
// that stand in the file as in memory become a view of the file.

#include "graph/tensor/tensor_proto.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "graph/base/machine_memory.h"
#include "graph/base/status_macros.h"
#include "graph/tensor/shape_wire.h"
#include "graph/wire/wire.h"

namespace tenon {
namespace {

// Bytes that a TF_TString holds without memory of its own.
constexpr size_t kSmallString = 22;

// Field numbers of TensorProto.
enum Field : uint32_t {
  kDtype = 1,
  kShape = 2,
  kContent = 4,
  kFloatVal = 5,
  kDoubleVal = 6,
  kIntVal = 7,
  kStringVal = 8,
  kComplex64Val = 9,
  kInt64Val = 10,
  kBoolVal = 11,
  kComplex128Val = 12,
  kHalfVal = 13,
  kUint32Val = 16,
  kUint64Val = 17,
  kFloat8Val = 18,
};

enum class Coding : uint8_t { kVarint, kFixed32, kFixed64, kRawBytes, kStrings };

// How the list field of a dtype holds its elements. An element is `parts` values of the coding.
struct Encoding {
  uint32_t field = 0;  // 0: the dtype has no list that the host reads
  Coding coding = Coding::kVarint;
  int parts = 1;
};

Encoding EncodingOf(DataType dtype) {
  switch (dtype) {
    case DataType::kFloat:
      return {kFloatVal, Coding::kFixed32};
    case DataType::kDouble:
      return {kDoubleVal, Coding::kFixed64};
    case DataType::kComplex64:
      return {kComplex64Val, Coding::kFixed32, 2};
    case DataType::kComplex128:
      return {kComplex128Val, Coding::kFixed64, 2};
    case DataType::kInt64:
      return {kInt64Val, Coding::kVarint};
    case DataType::kUint32:
      return {kUint32Val, Coding::kVarint};
    case DataType::kUint64:
      return {kUint64Val, Coding::kVarint};
    case DataType::kBool:
      return {kBoolVal, Coding::kVarint};
    case DataType::kString:
      return {kStringVal, Coding::kStrings};
    case DataType::kHalf:
    case DataType::kBfloat16:
      return {kHalfVal, Coding::kVarint};
    case DataType::kFloat8E5m2:
    case DataType::kFloat8E4m3fn:
    case DataType::kFloat8E4m3fnuz:
    case DataType::kFloat8E4m3b11fnuz:
    case DataType::kFloat8E5m2fnuz:
    case DataType::kFloat4E2m1fn:
      return {kFloat8Val, Coding::kRawBytes};
    case DataType::kInvalid:
    case DataType::kResource:
    case DataType::kVariant:
      return {};
    default:
      return {kIntVal, Coding::kVarint};
  }
}

WireType WireTypeOf(Coding coding) {
  switch (coding) {
    case Coding::kVarint:
      return WireType::kVarint;
    case Coding::kFixed32:
      return WireType::kFixed32;
    case Coding::kFixed64:
      return WireType::kFixed64;
    default:
      return WireType::kBytes;
  }
}

absl::Status Malformed() { return absl::DataLossError("malformed TensorProto bytes"); }

// The fields of a TensorProto, not decoded.
struct Parsed {
  DataType dtype = DataType::kInvalid;
  Shape shape;
  Encoding encoding;
  std::string_view content;
  std::vector<WireField>
      values;  // of the dtype's list field, packed runs and single elements as they come
  int64_t num_values = 0;  // elements in `values`
};

absl::StatusOr<TensorProtoHeader> MakeHeader(uint64_t dtype, std::string_view shape_wire) {
  if (dtype > INT32_MAX || !IsKnownDataType(static_cast<int32_t>(dtype)) ||
      IsRef(static_cast<DataType>(dtype))) {
    return absl::InvalidArgumentError(absl::StrCat("tensor has no usable dtype: ", dtype));
  }
  TENON_ASSIGN_OR_RETURN(const PartialShape partial, ShapeFromWire(shape_wire));
  const std::optional<Shape> shape = partial.ToShape();
  if (!shape.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat("tensor has shape ", partial.ToString(),
                                                   "; every dimension of a value must be known"));
  }
  return TensorProtoHeader{static_cast<DataType>(dtype), *shape};
}

// Field 2 may come in pieces: protobuf merges messages by concatenation.
absl::StatusOr<TensorProtoHeader> ParseHeader(std::string_view wire) {
  uint64_t dtype = 0;
  std::string_view shape;
  std::string merged;
  WireReader reader(wire);
  WireField f;
  while (reader.Next(&f)) {
    if (f.number == kDtype && f.type == WireType::kVarint) dtype = f.scalar;
    if (f.number != kShape || f.type != WireType::kBytes) continue;
    if (merged.empty()) merged = shape;
    if (!merged.empty()) absl::StrAppend(&merged, f.bytes);
    shape = merged.empty() ? f.bytes : merged;
  }
  if (!reader.ok()) return Malformed();
  return MakeHeader(dtype, shape);
}

// Number of values in one field of the list, or -1 for malformed bytes.
int64_t CountValues(const WireField& f, Coding coding) {
  if (f.type == WireTypeOf(coding))
    return coding == Coding::kRawBytes ? static_cast<int64_t>(f.bytes.size()) : 1;
  if (f.type != WireType::kBytes) return -1;
  const size_t size = f.bytes.size();
  if (coding == Coding::kFixed32) return size % 4 == 0 ? static_cast<int64_t>(size / 4) : -1;
  if (coding == Coding::kFixed64) return size % 8 == 0 ? static_cast<int64_t>(size / 8) : -1;
  const char* p = f.bytes.data();
  const char* end = p + size;
  int64_t count = 0;
  for (uint64_t v; p < end; ++count) {
    if (!WireReader::ReadVarint(&p, end, &v)) return -1;
  }
  return count;
}

// A TensorProto laid out as TensorToWire does it, elements in one piece.
struct AsWritten {
  uint64_t dtype;
  std::string_view shape, content;
};
std::optional<AsWritten> ReadAsWritten(std::string_view wire) {
  WireReader reader(wire);
  WireField f;
  AsWritten t;
  if (!reader.Next(&f) || f.number != kDtype || f.type != WireType::kVarint) return std::nullopt;
  t.dtype = f.scalar;
  if (!reader.Next(&f) || f.number != kShape || f.type != WireType::kBytes) return std::nullopt;
  t.shape = f.bytes;
  if (!reader.Next(&f) || f.number != kContent || f.type != WireType::kBytes) return std::nullopt;
  t.content = f.bytes;
  return reader.offset() == wire.size() ? std::optional(t) : std::nullopt;
}

absl::StatusOr<Parsed> Parse(std::string_view wire) {
  if (const std::optional<AsWritten> t = ReadAsWritten(wire)) {
    TENON_ASSIGN_OR_RETURN(TensorProtoHeader header, MakeHeader(t->dtype, t->shape));
    return Parsed{
        header.dtype, std::move(header.shape), EncodingOf(header.dtype), t->content, {}, 0};
  }
  TENON_ASSIGN_OR_RETURN(TensorProtoHeader header, ParseHeader(wire));
  Parsed parsed{header.dtype, std::move(header.shape), EncodingOf(header.dtype), {}, {}, 0};
  WireReader reader(wire);
  WireField f;
  while (reader.Next(&f)) {
    if (f.number == kContent && f.type == WireType::kBytes) parsed.content = f.bytes;
    if (f.number != parsed.encoding.field) continue;
    const int64_t count = CountValues(f, parsed.encoding.coding);
    if (count < 0) return Malformed();
    // float8_val is one field of bytes, not a repeated one: the last one counts, as in protobuf.
    if (parsed.encoding.coding == Coding::kRawBytes) parsed.values.clear(), parsed.num_values = 0;
    parsed.values.push_back(f);
    parsed.num_values += count;
  }
  parsed.num_values /= parsed.encoding.parts;
  return parsed;
}

absl::Status CheckContent(const Parsed& p, size_t bytes) {
  if (p.dtype == DataType::kString || p.content.size() == bytes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("tensor_content has ", p.content.size(), " bytes where a ",
                   DataTypeName(p.dtype), " tensor of shape ", p.shape.ToString(), " has ", bytes));
}

absl::StatusOr<size_t> CheckSize(const Parsed& p, size_t max_bytes) {
  TENON_ASSIGN_OR_RETURN(const size_t bytes, TensorBytes(p.dtype, p.shape));
  if (bytes > max_bytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("a ", DataTypeName(p.dtype), " tensor of shape ", p.shape.ToString(), " has ",
                     bytes, " bytes, the limit is ", max_bytes));
  }
  return bytes;
}

// Refuses tensors that the machine cannot hold: a repeated value fills any shape at no cost for the
// file.
absl::Status CheckMemory(const Parsed& p, size_t bytes) {
  constexpr size_t kAlwaysFine = size_t{64} << 20;
  if (bytes <= kAlwaysFine) return absl::OkStatus();
  if (bytes <= MachineMemoryBytes() / 4 * 3) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat("a ", DataTypeName(p.dtype), " tensor of shape ",
                                                   p.shape.ToString(), " has ", bytes,
                                                   " bytes, more than this machine can hold"));
}

// Appends elements of a fixed size to a buffer until it is full.
class Sink {
 public:
  Sink(char* data, size_t bytes, size_t value_bytes)
      : p_(data), end_(data + bytes), value_bytes_(value_bytes) {}
  bool full() const { return p_ == end_; }
  void PutValue(uint64_t v) {
    std::memcpy(p_, &v, value_bytes_);
    p_ += value_bytes_;
  }
  void PutRun(std::string_view bytes) {
    const size_t n = std::min(bytes.size(), static_cast<size_t>(end_ - p_));
    std::memcpy(p_, bytes.data(), n);
    p_ += n;
  }

 private:
  char* p_;
  char* end_;
  size_t value_bytes_;
};

void PutVarints(std::string_view packed, bool is_bool, Sink* sink) {
  const char* p = packed.data();
  const char* end = p + packed.size();
  for (uint64_t v; p < end && !sink->full() && WireReader::ReadVarint(&p, end, &v);)
    sink->PutValue(is_bool ? v != 0 : v);
}

// Repeats the element before `filled` up to the end; doubling keeps it at memcpy speed.
void Splat(char* data, size_t filled, size_t bytes, size_t element) {
  if (filled == 0 || filled >= bytes) return;
  const size_t first = filled - element;
  size_t done = element;
  const size_t total = bytes - first;
  while (done < total) {
    const size_t n = std::min(done, total - done);
    std::memcpy(data + first + done, data + first, n);
    done += n;
  }
}

void DecodeValues(const Parsed& p, char* data, size_t bytes) {
  const size_t element = DataTypeSize(p.dtype);
  // A list may also hold more elements than the shape has: the rest is left out, as in TensorFlow.
  const auto filled = static_cast<size_t>(std::min(p.num_values, p.shape.num_elements())) * element;
  if (filled == 0) {
    std::memset(data, 0, bytes);
    return;
  }
  const bool is_bool = p.dtype == DataType::kBool;
  Sink sink(data, filled, element / p.encoding.parts);
  for (const WireField& f : p.values) {
    if (sink.full()) break;
    if (f.type != WireType::kBytes) {
      sink.PutValue(is_bool ? f.scalar != 0 : f.scalar);
    } else if (p.encoding.coding == Coding::kVarint) {
      PutVarints(f.bytes, is_bool, &sink);
    } else {
      sink.PutRun(f.bytes);
    }
  }
  Splat(data, filled, bytes, element);
}

void ReleaseOwner(void*, size_t, void* arg) {
  delete static_cast<std::shared_ptr<const void>*>(arg);
}

Tensor ViewOf(const Parsed& p, std::string_view bytes, std::shared_ptr<const void> owner) {
  auto* share = new std::shared_ptr<const void>(std::move(owner));
  // Tensors hand out plain pointers, but only the holder of an owned buffer writes through one.
  void* data = const_cast<char*>(bytes.data());
  return Tensor(p.dtype, p.shape,
                BufferRef::Adopt(Buffer::Wrap(data, bytes.size(), ReleaseOwner, share)));
}

// Returns the bytes of the file that are the elements as they stand; nullopt if elements must be
// decoded.
std::optional<std::string_view> InPlace(const Parsed& p, size_t bytes) {
  if (p.dtype == DataType::kBool || !IsMemcpyable(p.dtype) || bytes == 0) return std::nullopt;
  if (!p.content.empty()) return p.content;
  // One packed run of fixed-size numbers is laid out as in memory.
  const bool raw = p.encoding.coding != Coding::kVarint && p.values.size() == 1;
  if (!raw || p.values[0].type != WireType::kBytes || p.values[0].bytes.size() != bytes)
    return std::nullopt;
  return p.values[0].bytes;
}

// tensor_content of strings: all lengths as varints, then all bytes.
absl::StatusOr<std::vector<std::string_view>> StringsOfContent(const Parsed& p) {
  const int64_t n = p.shape.num_elements();
  const auto bad = [] {
    return absl::InvalidArgumentError(
        "tensor_content does not hold the strings of the tensor's shape");
  };
  if (static_cast<uint64_t>(n) > p.content.size()) return bad();
  const char* pos = p.content.data();
  const char* end = pos + p.content.size();
  std::vector<uint64_t> lengths(static_cast<size_t>(n));
  for (uint64_t& length : lengths) {
    if (!WireReader::ReadVarint(&pos, end, &length)) return bad();
  }
  std::vector<std::string_view> strings;
  strings.reserve(lengths.size());
  for (const uint64_t length : lengths) {
    if (length > static_cast<uint64_t>(end - pos)) return bad();
    strings.emplace_back(pos, length);
    pos += length;
  }
  if (pos != end) return bad();
  return strings;
}

absl::StatusOr<Tensor> DecodeStrings(const Parsed& p) {
  std::vector<std::string_view> strings;
  if (!p.content.empty() && p.shape.num_elements() > 0) {
    TENON_ASSIGN_OR_RETURN(strings, StringsOfContent(p));
  } else {
    for (const WireField& f : p.values) strings.push_back(f.bytes);
  }
  const int64_t n = p.shape.num_elements();
  const int64_t repeats = n - static_cast<int64_t>(strings.size());  // of the last string
  if (!strings.empty() && repeats > 0 && strings.back().size() > kSmallString) {
    size_t total = 0;
    if (__builtin_mul_overflow(strings.back().size(), static_cast<size_t>(repeats), &total))
      total = SIZE_MAX;
    TENON_RETURN_IF_ERROR(CheckMemory(p, total));
  }
  TENON_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(p.dtype, p.shape));
  if (strings.empty()) return tensor;
  for (int64_t i = 0; i < n; ++i)
    tensor.SetString(i, strings[std::min<size_t>(i, strings.size() - 1)]);
  return tensor;
}

absl::Status CheckDecodable(const Parsed& p) {
  if (p.encoding.field != 0) return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat("constants of dtype ", DataTypeName(p.dtype), " are not implemented"));
}

}  // namespace

bool IsAsWritten(std::string_view wire) {
  const std::optional<AsWritten> t = ReadAsWritten(wire);
  // A true bool may be any byte but 0, so equal tensors may have different bytes.
  return t.has_value() && t->dtype != static_cast<uint64_t>(DataType::kBool);
}

bool IsSmallAsWritten(std::string_view wire) {
  constexpr size_t kMostBytes = 1024;
  WireReader reader(wire);
  WireField f;
  if (!reader.Next(&f) || f.number != kDtype || f.type != WireType::kVarint ||
      f.scalar > INT32_MAX || !IsKnownDataType(static_cast<int32_t>(f.scalar)))
    return false;
  const auto dtype = static_cast<DataType>(f.scalar);
  if (IsRef(dtype) || !IsMemcpyable(dtype)) return false;
  if (!reader.Next(&f) || f.number != kShape || f.type != WireType::kBytes) return false;
  // The shape of a scalar has no bytes.
  size_t bytes = DataTypeSize(dtype);
  if (!f.bytes.empty()) {
    const absl::StatusOr<TensorProtoHeader> header =
        MakeHeader(static_cast<uint64_t>(dtype), f.bytes);
    const absl::StatusOr<size_t> size =
        header.ok() ? TensorBytes(dtype, header->shape) : header.status();
    if (!size.ok() || *size == 0 || *size > kMostBytes) return false;
    bytes = *size;
  }
  if (!reader.Next(&f) || f.type != WireType::kBytes || reader.offset() != wire.size())
    return false;
  const Encoding encoding = EncodingOf(dtype);
  if (f.number == encoding.field && encoding.coding == Coding::kVarint)
    return bytes == DataTypeSize(dtype) && CountValues(f, Coding::kVarint) == 1;
  return dtype != DataType::kBool && f.bytes.size() == bytes &&
         (f.number == kContent || f.number == encoding.field);
}

absl::StatusOr<TensorProtoHeader> TensorHeaderFromWire(std::string_view wire) {
  return ParseHeader(wire);
}

absl::StatusOr<TensorProtoHeader> CheckTensorWire(std::string_view wire, size_t max_bytes) {
  TENON_ASSIGN_OR_RETURN(Parsed p, Parse(wire));
  TENON_RETURN_IF_ERROR(CheckDecodable(p));
  TENON_ASSIGN_OR_RETURN(const size_t bytes, CheckSize(p, max_bytes));
  if (bytes != 0 && !p.content.empty()) {
    TENON_RETURN_IF_ERROR(p.dtype == DataType::kString ? StringsOfContent(p).status()
                                                       : CheckContent(p, bytes));
  }
  return TensorProtoHeader{p.dtype, std::move(p.shape)};
}

absl::StatusOr<Tensor> TensorFromWire(std::string_view wire, std::shared_ptr<const void> owner,
                                      size_t max_bytes) {
  TENON_ASSIGN_OR_RETURN(const Parsed p, Parse(wire));
  TENON_RETURN_IF_ERROR(CheckDecodable(p));
  TENON_ASSIGN_OR_RETURN(const size_t bytes, CheckSize(p, max_bytes));
  if (bytes != 0 && !p.content.empty()) TENON_RETURN_IF_ERROR(CheckContent(p, bytes));
  const std::optional<std::string_view> in_place = InPlace(p, bytes);
  if (in_place.has_value()) {
    if (owner != nullptr) return ViewOf(p, *in_place, std::move(owner));
  } else {
    TENON_RETURN_IF_ERROR(CheckMemory(p, bytes));
  }
  if (p.dtype == DataType::kString) return DecodeStrings(p);
  TENON_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(p.dtype, p.shape));
  char* data = tensor.flat<char>();
  if (bytes == 0) return tensor;
  if (in_place.has_value()) {
    std::memcpy(data, in_place->data(), bytes);
  } else if (!p.content.empty()) {
    std::transform(p.content.begin(), p.content.end(), data, [](char b) { return b != 0 ? 1 : 0; });
  } else {
    DecodeValues(p, data, bytes);
  }
  return tensor;
}

absl::StatusOr<std::string> TensorToWire(const Tensor& tensor) {
  if (!tensor.initialized()) return absl::InvalidArgumentError("the tensor has no value");
  std::string wire;
  WireWriter writer(&wire);
  writer.Varint(kDtype, static_cast<uint64_t>(tensor.dtype()));
  writer.Bytes(kShape, ShapeToWire(tensor.shape()));
  if (tensor.dtype() == DataType::kString) {
    for (int64_t i = 0; i < tensor.num_elements(); ++i)
      writer.Bytes(kStringVal, tensor.StringAt(i));
    return wire;
  }
  if (!IsMemcpyable(tensor.dtype())) {
    return absl::UnimplementedError(absl::StrCat("a tensor of dtype ", DataTypeName(tensor.dtype()),
                                                 " cannot be written as a constant"));
  }
  if (tensor.bytes() != 0) writer.Bytes(kContent, {tensor.flat<char>(), tensor.bytes()});
  return wire;
}

namespace {

// One element as a varint field holds it: signed numbers are extended to 64 bits.
uint64_t VarintOf(const Tensor& tensor) {
  const auto as = [&tensor]<typename T>(T value) {
    std::memcpy(&value, tensor.data(), sizeof(value));
    return static_cast<uint64_t>(static_cast<int64_t>(value));
  };
  switch (tensor.dtype()) {
    case DataType::kInt8:
    case DataType::kQint8:
    case DataType::kInt4:
    case DataType::kInt2:
      return as(int8_t{});
    case DataType::kInt16:
    case DataType::kQint16:
      return as(int16_t{});
    case DataType::kInt32:
    case DataType::kQint32:
      return as(int32_t{});
    default:
      break;
  }
  uint64_t value = 0;
  std::memcpy(&value, tensor.data(), tensor.bytes());
  return value;
}

// Strings as tensor_content holds them.
std::string ContentOfStrings(const Tensor& tensor) {
  std::string content;
  WireWriter lengths(&content);
  for (int64_t i = 0; i < tensor.num_elements(); ++i) lengths.RawVarint(tensor.StringAt(i).size());
  for (int64_t i = 0; i < tensor.num_elements(); ++i) content.append(tensor.StringAt(i));
  return content;
}

}  // namespace

absl::StatusOr<std::string> TensorToAttrWire(const Tensor& tensor) {
  const bool strings = tensor.initialized() && tensor.dtype() == DataType::kString;
  if (!tensor.initialized() || tensor.num_elements() == 0 ||
      (!strings && tensor.num_elements() > 1))
    return TensorToWire(tensor);
  std::string wire;
  WireWriter writer(&wire);
  writer.Varint(kDtype, static_cast<uint64_t>(tensor.dtype()));
  writer.Bytes(kShape, ShapeToWire(tensor.shape()));
  const Encoding encoding = EncodingOf(tensor.dtype());
  if (tensor.num_elements() > 1) {
    writer.Bytes(kContent, ContentOfStrings(tensor));
  } else if (strings) {
    writer.Bytes(kStringVal, tensor.StringAt(0));
  } else if (encoding.field == 0) {
    return TensorToWire(tensor);
  } else if (encoding.coding == Coding::kVarint) {
    std::string varint;
    WireWriter(&varint).RawVarint(VarintOf(tensor));
    writer.Bytes(encoding.field, varint);
  } else {
    writer.Bytes(encoding.field, {tensor.flat<char>(), tensor.bytes()});
  }
  return wire;
}

}  // namespace tenon
