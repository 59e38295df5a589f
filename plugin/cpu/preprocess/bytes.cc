// What packs and names bytes: DecodeCompressed, SerializeTensor, ParseTensor, Fingerprint.
#include <farmhash.h>
#include <zlib.h>

#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "graph/base/annotate.h"
#include "graph/tensor/tensor_proto.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/string_element.h"
#include "plugin/cpu/elementwise/loops/element_copy.h"
#include "plugin/cpu/strings/string_map.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

class Inflater {
 public:
  explicit Inflater(bool gzip) : gzip_(gzip) {
    // zlib's flag in the window's bits.
    constexpr int kGzipOnly = 16;
    ready_ = inflateInit2(&stream_, MAX_WBITS + (gzip ? kGzipOnly : 0)) == Z_OK;
  }
  ~Inflater() {
    if (ready_) inflateEnd(&stream_);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Several gzip files may follow each other; what follows a zlib stream is not looked at.
  absl::Status Inflate(std::string_view in, std::string* out) {
    if (!ready_) return absl::ResourceExhaustedError("no memory for zlib");
    // A few bytes can become a thousand times as many: the output is measured while it grows.
    constexpr uint64_t kMostBytes = uint64_t{1} << 30;
    char piece[1 << 14];
    while (!in.empty()) {
      const size_t given = std::min<size_t>(in.size(), 1 << 30);
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
      stream_.avail_in = static_cast<uInt>(given);
      stream_.next_out = reinterpret_cast<Bytef*>(piece);
      stream_.avail_out = sizeof(piece);
      const int result = inflate(&stream_, Z_NO_FLUSH);
      in.remove_prefix(given - stream_.avail_in);
      out->append(piece, sizeof(piece) - stream_.avail_out);
      TENON_RETURN_IF_ERROR(CheckStringBytes(static_cast<double>(out->size())));
      if (out->size() > kMostBytes) {
        return absl::ResourceExhaustedError(
            absl::StrCat("more than ", kMostBytes, " bytes come out of it"));
      }
      if (result == Z_STREAM_END) {
        if (!gzip_ || in.empty()) return absl::OkStatus();
        inflateReset(&stream_);
      } else if (result != Z_OK) {
        return absl::DataLossError(absl::StrCat(
            "zlib: ", stream_.msg != nullptr ? stream_.msg : "the data end too early"));
      }
    }
    return Drain(out);
  }

 private:
  // All input is taken; output may be pending.
  absl::Status Drain(std::string* out) {
    char piece[1 << 14];
    for (;;) {
      stream_.next_out = reinterpret_cast<Bytef*>(piece);
      stream_.avail_out = sizeof(piece);
      const int result = inflate(&stream_, Z_NO_FLUSH);
      out->append(piece, sizeof(piece) - stream_.avail_out);
      if (result == Z_STREAM_END) return absl::OkStatus();
      if (result != Z_OK) return absl::DataLossError("zlib: the data end too early");
    }
  }

  z_stream stream_ = {};
  bool gzip_, ready_;
};

struct Decompress {
  bool packed, gzip;

  absl::Status operator()(const StepArgs& args, int64_t i) const {
    const std::string_view in = StringAt(args.in[0], i);
    if (!packed) {
      PutString(args.out[0], i, in);
      return absl::OkStatus();
    }
    std::string out;
    const absl::Status status = in.empty() ? absl::OkStatus() : Inflater(gzip).Inflate(in, &out);
    if (!status.ok()) return Annotate(status, absl::StrCat("string ", i, ": "));
    PutString(args.out[0], i, out);
    return absl::OkStatus();
  }
};

absl::Status PrepareDecompress(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const std::string_view type, p.AttrString("compression_type"));
  if (type == "ZSTD") return p.Unimplemented("compression_type ZSTD");
  if (!type.empty() && type != "ZLIB" && type != "GZIP") {
    return p.Invalid(
        absl::StrCat("compression_type must be ZLIB, GZIP or empty, not '", type, "'"));
  }
  return SetElementMap(p, Decompress{!type.empty(), type == "GZIP"});
}

struct TypedShape {
  DataType type;
  Shape shape;
};

void NoRelease(void*, size_t, void*) {}

absl::Status RunSerialize(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const TypedShape*>(state);
  const size_t bytes = static_cast<size_t>(s.shape.num_elements()) * DataTypeSize(s.type);
  const Tensor view(s.type, s.shape,
                    BufferRef::Adopt(Buffer::Wrap(args.in[0], bytes, &NoRelease, nullptr)));
  TENON_ASSIGN_OR_RETURN(const std::string wire, TensorToWire(view));
  PutString(args.out[0], 0, wire);
  return absl::OkStatus();
}

// The output is a scalar, as outputs are unless one says otherwise.
absl::Status PrepareSerialize(Prepare& p) {
  p.set_run(&RunSerialize,
            std::make_shared<TypedShape>(TypedShape{p.input_type(0), p.input_shape(0)}));
  return absl::OkStatus();
}

struct Parse {
  DataType type;
};

absl::Status RunParse(const void* state, const StepArgs& args) {
  const DataType wanted = static_cast<const Parse*>(state)->type;
  absl::StatusOr<Tensor> tensor =
      TensorFromWire(StringAt(args.in[0], 0), nullptr, kMostStringBytes);
  if (!tensor.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the string is no TensorProto: ", tensor.status().message()));
  }
  if (tensor->dtype() != wanted) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the tensor is of type ", DataTypeName(tensor->dtype()), ", not ", DataTypeName(wanted)));
  }
  args.run_state->SetOutput(0, *std::move(tensor));
  return absl::OkStatus();
}

absl::Status PrepareParse(Prepare& p) {
  if (p.input_shape(0).rank() != 0) return p.Invalid("'serialized' must be a scalar");
  p.set_dynamic_output(0);
  p.set_run(&RunParse, std::make_shared<Parse>(Parse{p.output_type(0)}));
  return absl::OkStatus();
}

struct Rows {
  bool strings;
  int64_t rows, row;  // elements
  int64_t bytes;      // of an element
};

uint64_t Hash(std::string_view s) { return util::Fingerprint64(s.data(), s.size()); }

// Rows of several strings are named by the names of the strings.
absl::Status RunFingerprint(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Rows*>(state);
  if (const std::string_view method = StringAt(args.in[1], 0); method != "farmhash64") {
    return absl::InvalidArgumentError(
        absl::StrCat("'method' must be farmhash64, not '", method, "'"));
  }
  std::string names;
  for (int64_t r = 0; r < s.rows; ++r) {
    uint64_t name;
    if (!s.strings) {
      name = Hash({static_cast<const char*>(args.in[0]) + r * s.row * s.bytes,
                   static_cast<size_t>(s.row * s.bytes)});
    } else if (s.row == 1) {
      name = Hash(StringAt(args.in[0], r));
    } else {
      names.clear();
      for (int64_t i = r * s.row; i < (r + 1) * s.row; ++i) {
        const uint64_t part = Hash(StringAt(args.in[0], i));
        names.append(reinterpret_cast<const char*>(&part), sizeof(part));
      }
      name = Hash(names);
    }
    memcpy(static_cast<char*>(args.out[0]) + 8 * r, &name, sizeof(name));
  }
  return absl::OkStatus();
}

absl::Status PrepareFingerprint(Prepare& p) {
  const Shape& in = p.input_shape(0);
  if (in.rank() < 1) return p.Invalid("the data must have at least one dimension");
  if (p.input_shape(1).rank() != 0) return p.Invalid("'method' must be a scalar");
  p.set_output_shape(0, Shape({in.dim(0), 8}));
  p.set_run(&RunFingerprint,
            std::make_shared<Rows>(Rows{p.input_type(0) == DataType::kString, in.dim(0),
                                        DimProduct(in, 1, in.rank()),
                                        static_cast<int64_t>(DataTypeSize(p.input_type(0)))}));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> BytesKernels() {
  static const CpuKernelSpec specs[] = {
      {"DecodeCompressed", {}, PrepareDecompress},
      {"SerializeTensor", {{"T", kCopyTypes}}, PrepareSerialize},
      {"ParseTensor", {{"out_type", kCopyTypes}}, PrepareParse},
      {"Fingerprint", {{"T", kCopyTypes}}, PrepareFingerprint},
  };
  return specs;
}

}  // namespace tenon::cpu
