// The format of NumPy's .npy files: "\x93NUMPY", a version, the length of the header, a Python dict
// as text, and the elements. Version 1 has a length of 2 bytes, versions 2 and 3 of 4.

#include "graph/tensor/npy.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "graph/base/file_writer.h"
#include "graph/base/status_macros.h"

namespace tenon {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
// The format asks for data at a multiple of 64 bytes, by blanks behind the dict and a line feed.
constexpr size_t kHeaderAlignment = 64;

absl::Status Bad(std::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("not a readable .npy file: ", what));
}

// The type of the elements, as NumPy writes it ('<f4').
struct Descr {
  bool big_endian = false;
  char kind = 0;    // b i u f c S U
  size_t size = 0;  // bytes per element; of U: code points
};

struct Header {
  Descr descr;
  bool fortran = false;
  Shape shape;
};

// Returns the text after `'key':`, up to the end of the value. The header is a Python dict; NumPy
// writes only strings, tuples and words.
absl::StatusOr<std::string_view> DictValue(std::string_view dict, std::string_view key) {
  for (char quote : {'\'', '"'}) {
    const std::string name = absl::StrCat(std::string(1, quote), key, std::string(1, quote));
    const size_t at = dict.find(name);
    if (at == std::string_view::npos) continue;
    std::string_view rest = absl::StripLeadingAsciiWhitespace(dict.substr(at + name.size()));
    if (rest.empty() || rest[0] != ':') break;
    rest = absl::StripLeadingAsciiWhitespace(rest.substr(1));
    if (rest.empty()) break;
    size_t end;
    if (rest[0] == '(') {
      end = rest.find(')');
      if (end != std::string_view::npos) ++end;
    } else if (rest[0] == '\'' || rest[0] == '"') {
      end = rest.find(rest[0], 1);
      if (end != std::string_view::npos) ++end;
    } else {
      end = rest.find_first_of(",}");
    }
    if (end == std::string_view::npos) break;
    return absl::StripTrailingAsciiWhitespace(rest.substr(0, end));
  }
  return Bad(absl::StrCat("its header has no '", key, "'"));
}

absl::StatusOr<Descr> ParseDescr(std::string_view text) {
  if (text.size() < 4 || (text[0] != '\'' && text[0] != '"'))
    return absl::UnimplementedError("arrays of records are not read");
  const std::string_view code = text.substr(1, text.size() - 2);
  Descr d;
  d.big_endian = code[0] == '>';
  if (code.find_first_of("<>|=") != 0) return Bad(absl::StrCat("unknown type '", code, "'"));
  d.kind = code[1];
  if (std::string_view("biufcSUV").find(d.kind) == std::string_view::npos) {
    return absl::UnimplementedError(absl::StrCat("arrays of type '", code, "' are not read"));
  }
  uint64_t size = 0;
  // Elements of 0 bytes would allow any number of elements in a file without data.
  if (!absl::SimpleAtoi(code.substr(2), &size) || size == 0 || size > (uint64_t{1} << 30))
    return Bad(absl::StrCat("unknown type '", code, "'"));
  d.size = size;
  // Void: how NumPy stores types of other packages, such as bfloat16 and 8-bit floats.
  if (d.kind == 'V' && size <= 2) d.kind = 'u';
  if (d.kind == 'V')
    return absl::UnimplementedError(absl::StrCat("arrays of type '", code, "' are not read"));
  return d;
}

absl::StatusOr<Shape> ParseShape(std::string_view text) {
  if (text.size() < 2 || text.front() != '(' || text.back() != ')')
    return Bad(absl::StrCat("shape ", text));
  Dims dims;
  for (std::string_view part : absl::StrSplit(text.substr(1, text.size() - 2), ',')) {
    part = absl::StripAsciiWhitespace(part);
    if (part.empty()) continue;
    int64_t dim;
    if (!absl::SimpleAtoi(part, &dim)) return Bad(absl::StrCat("shape ", text));
    dims.push_back(dim);
  }
  return Shape::Make(dims);
}

// Parses the header and removes it from `bytes`.
absl::StatusOr<Header> ParseHeader(std::string_view* bytes) {
  if (bytes->size() < 10 || bytes->substr(0, kMagic.size()) != kMagic)
    return Bad("it does not begin with \\x93NUMPY");
  const int major = (*bytes)[6];
  if (major < 1 || major > 3) return Bad(absl::StrCat("version ", major));
  const size_t length_bytes = major == 1 ? 2 : 4;
  if (bytes->size() < 8 + length_bytes) return Bad("it ends in its header");
  size_t length = 0;
  for (size_t i = 0; i < length_bytes; ++i)
    length |= size_t{static_cast<uint8_t>((*bytes)[8 + i])} << (8 * i);
  if (bytes->size() - 8 - length_bytes < length) return Bad("it ends in its header");
  const std::string_view dict = bytes->substr(8 + length_bytes, length);
  bytes->remove_prefix(8 + length_bytes + length);
  Header h;
  TENON_ASSIGN_OR_RETURN(const std::string_view descr, DictValue(dict, "descr"));
  TENON_ASSIGN_OR_RETURN(h.descr, ParseDescr(descr));
  TENON_ASSIGN_OR_RETURN(const std::string_view order, DictValue(dict, "fortran_order"));
  h.fortran = order == "True";
  TENON_ASSIGN_OR_RETURN(const std::string_view shape, DictValue(dict, "shape"));
  TENON_ASSIGN_OR_RETURN(h.shape, ParseShape(shape));
  return h;
}

DataType TypeOf(const Descr& d) {
  if (d.kind == 'S' || d.kind == 'U') return DataType::kString;
  struct Row {
    char kind;
    size_t size;
    DataType type;
  };
  static constexpr Row kRows[] = {
      {'b', 1, DataType::kBool},      {'i', 1, DataType::kInt8},       {'i', 2, DataType::kInt16},
      {'i', 4, DataType::kInt32},     {'i', 8, DataType::kInt64},      {'u', 1, DataType::kUint8},
      {'u', 2, DataType::kUint16},    {'u', 4, DataType::kUint32},     {'u', 8, DataType::kUint64},
      {'f', 2, DataType::kHalf},      {'f', 4, DataType::kFloat},      {'f', 8, DataType::kDouble},
      {'c', 8, DataType::kComplex64}, {'c', 16, DataType::kComplex128}};
  for (const Row& row : kRows) {
    if (row.kind == d.kind && row.size == d.size) return row.type;
  }
  return DataType::kInvalid;
}

// The type whose NumPy form stands for t in a file; t itself where NumPy has it.
DataType FileType(DataType t) {
  switch (t) {
    case DataType::kQint8:
      return DataType::kInt8;
    case DataType::kQint16:
      return DataType::kInt16;
    case DataType::kQint32:
      return DataType::kInt32;
    case DataType::kQuint8:
      return DataType::kUint8;
    case DataType::kQuint16:
      return DataType::kUint16;
    case DataType::kBfloat16:
      return DataType::kUint16;
    case DataType::kFloat8E5m2:
    case DataType::kFloat8E4m3fn:
    case DataType::kFloat8E4m3fnuz:
    case DataType::kFloat8E4m3b11fnuz:
    case DataType::kFloat8E5m2fnuz:
    case DataType::kFloat4E2m1fn:
    case DataType::kInt4:
    case DataType::kUint4:
    case DataType::kInt2:
    case DataType::kUint2:
      return DataType::kUint8;
    default:
      return t;
  }
}

std::string DescrOf(DataType t) {
  switch (FileType(t)) {
    case DataType::kBool:
      return "|b1";
    case DataType::kInt8:
      return "|i1";
    case DataType::kUint8:
      return "|u1";
    case DataType::kInt16:
      return "<i2";
    case DataType::kInt32:
      return "<i4";
    case DataType::kInt64:
      return "<i8";
    case DataType::kUint16:
      return "<u2";
    case DataType::kUint32:
      return "<u4";
    case DataType::kUint64:
      return "<u8";
    case DataType::kHalf:
      return "<f2";
    case DataType::kFloat:
      return "<f4";
    case DataType::kDouble:
      return "<f8";
    case DataType::kComplex64:
      return "<c8";
    case DataType::kComplex128:
      return "<c16";
    default:
      return "";
  }
}

// Gives for each position in the file the index of the element in C order: Fortran order has the
// first dimension innermost.
class FileOrder {
 public:
  FileOrder(const Shape& shape, bool fortran)
      : shape_(shape), fortran_(fortran && shape.rank() > 1), index_(shape.rank(), 0) {
    strides_.assign(shape.rank(), 1);
    for (int i = shape.rank() - 2; i >= 0; --i) strides_[i] = strides_[i + 1] * shape.dim(i + 1);
  }
  int64_t Next() {
    if (!fortran_) return at_++;
    const int64_t current = at_;
    for (int i = 0; i < shape_.rank(); ++i) {
      at_ += strides_[i];
      if (++index_[i] < shape_.dim(i)) break;
      at_ -= strides_[i] * shape_.dim(i);
      index_[i] = 0;
    }
    return current;
  }

 private:
  const Shape& shape_;
  bool fortran_;
  Dims index_, strides_;
  int64_t at_ = 0;
};

bool IsUnicode(uint32_t c) { return c <= 0x10FFFF && (c < 0xD800 || c > 0xDFFF); }

void AppendUtf8(uint32_t c, std::string* out) {
  if (c < 0x80) {
    out->push_back(static_cast<char>(c));
    return;
  }
  const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  static constexpr uint8_t kLead[] = {0, 0xC0, 0xE0, 0xF0};
  out->push_back(static_cast<char>(kLead[more] | (c >> (6 * more))));
  for (int i = more - 1; i >= 0; --i)
    out->push_back(static_cast<char>(0x80 | ((c >> (6 * i)) & 0x3F)));
}

absl::StatusOr<std::string> DecodeString(const Descr& d, const char* data) {
  std::string text;
  if (d.kind == 'S') {
    text.assign(data, d.size);
    // NumPy fills texts up with NULs and cannot tell them from NULs at the end.
    text.resize(text.find_last_not_of('\0') + 1);
    return text;
  }
  std::vector<uint32_t> points(d.size);
  for (size_t i = 0; i < d.size; ++i) {
    for (int b = 0; b < 4; ++b)
      points[i] |= uint32_t{static_cast<uint8_t>(data[4 * i + b])}
                   << (8 * (d.big_endian ? 3 - b : b));
  }
  while (!points.empty() && points.back() == 0) points.pop_back();
  for (uint32_t c : points) {
    if (!IsUnicode(c))
      return Bad(absl::StrCat("character U+", absl::Hex(c, absl::kZeroPad4), " has no UTF-8 form"));
    AppendUtf8(c, &text);
  }
  return text;
}

absl::Status CheckBools(const Tensor& t) {
  // Read as bytes: to read another value than 0 or 1 as a bool is undefined.
  const auto bytes = absl::MakeConstSpan(t.flat<uint8_t>(), t.num_elements());
  const auto wrong =
      std::find_if(bytes.begin(), bytes.end(), [](uint8_t byte) { return byte > 1; });
  if (wrong == bytes.end()) return absl::OkStatus();
  return Bad(absl::StrCat("element ", wrong - bytes.begin(), " is ", *wrong, ", and no bool"));
}

void CopySwapped(const char* from, size_t size, size_t part, char* to) {
  for (size_t p = 0; p < size; p += part) std::reverse_copy(from + p, from + p + part, to + p);
}

absl::Status ReadStrings(const Header& h, const char* data, size_t size, const Tensor& t) {
  FileOrder order(h.shape, h.fortran);
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    TENON_ASSIGN_OR_RETURN(const std::string text, DecodeString(h.descr, data + i * size));
    t.SetString(order.Next(), text);
  }
  return absl::OkStatus();
}

absl::Status ReadNumbers(const Header& h, const char* data, size_t size, const Tensor& t) {
  // The two halves of a complex number are swapped each on its own.
  const size_t part = h.descr.kind == 'c' ? size / 2 : size;
  const bool swap = h.descr.big_endian && part > 1;
  if (!swap && !h.fortran) {
    if (t.bytes() > 0) std::memcpy(t.data(), data, t.bytes());
  } else {
    FileOrder order(h.shape, h.fortran);
    for (int64_t i = 0; i < t.num_elements(); ++i)
      CopySwapped(data + i * size, size, swap ? part : 1, t.flat<char>() + order.Next() * size);
  }
  return t.dtype() == DataType::kBool ? CheckBools(t) : absl::OkStatus();
}

}  // namespace

absl::StatusOr<Tensor> NpyFromBytes(std::string_view bytes, DataType wanted) {
  TENON_ASSIGN_OR_RETURN(const Header h, ParseHeader(&bytes));
  DataType type = TypeOf(h.descr);
  if (type == DataType::kInvalid)
    return absl::UnimplementedError("arrays of this element size are not read");
  if (wanted != DataType::kInvalid && wanted != type) {
    if (FileType(wanted) != type) {
      return absl::InvalidArgumentError(absl::StrCat("the array is ", DataTypeShortName(type),
                                                     " where ", DataTypeShortName(wanted),
                                                     " is asked for"));
    }
    type = wanted;
  }
  const int64_t n = h.shape.num_elements();
  const size_t size = h.descr.kind == 'U' ? 4 * h.descr.size : h.descr.size;
  size_t total;
  if (__builtin_mul_overflow(static_cast<size_t>(n), size, &total) || total > bytes.size()) {
    return Bad(absl::StrCat("it holds ", bytes.size(), " bytes of data, its shape ",
                            h.shape.ToString(), " asks for more"));
  }
  TENON_ASSIGN_OR_RETURN(Tensor t, Tensor::Allocate(type, h.shape));
  TENON_RETURN_IF_ERROR(type == DataType::kString ? ReadStrings(h, bytes.data(), size, t)
                                                  : ReadNumbers(h, bytes.data(), size, t));
  return t;
}

absl::StatusOr<std::string> NpyToBytes(const Tensor& tensor) {
  const int64_t n = tensor.num_elements();
  std::string descr = DescrOf(tensor.dtype());
  size_t width = 0;
  if (tensor.dtype() == DataType::kString) {
    for (int64_t i = 0; i < n; ++i) width = std::max(width, tensor.StringAt(i).size());
    // "S0" would be a type without bytes, which readers refuse.
    width = std::max<size_t>(width, 1);
    descr = absl::StrCat("|S", width);
  }
  if (descr.empty())
    return absl::UnimplementedError(
        absl::StrCat("a tensor of ", DataTypeShortName(tensor.dtype()), " has no NumPy form"));
  std::string dict = absl::StrCat("{'descr': '", descr, "', 'fortran_order': False, 'shape': (",
                                  absl::StrJoin(tensor.shape().dims(), ", "),
                                  tensor.shape().rank() == 1 ? ",), }" : "), }");
  const size_t header = kMagic.size() + 4 + dict.size() + 1;
  dict.append((kHeaderAlignment - header % kHeaderAlignment) % kHeaderAlignment, ' ');
  dict.push_back('\n');
  if (dict.size() > 0xFFFF)
    return absl::UnimplementedError("the shape is too long for a .npy header");
  std::string out(kMagic);
  out.append(
      {'\1', '\0', static_cast<char>(dict.size() & 0xFF), static_cast<char>(dict.size() >> 8)});
  out.append(dict);
  if (tensor.dtype() != DataType::kString) {
    out.append(tensor.flat<char>(), tensor.bytes());
    return out;
  }
  for (int64_t i = 0; i < n; ++i) {
    const std::string_view s = tensor.StringAt(i);
    out.append(s).append(width - s.size(), '\0');
  }
  return out;
}

absl::StatusOr<Tensor> ReadNpy(const std::string& path, DataType wanted) {
  TENON_ASSIGN_OR_RETURN(const FileBytes file, ReadFile(path, SIZE_MAX));
  absl::StatusOr<Tensor> tensor = NpyFromBytes(file.bytes, wanted);
  return tensor.ok() ? std::move(tensor) : WithPath(path, tensor.status());
}

absl::Status WriteNpy(const std::string& path, const Tensor& tensor) {
  TENON_ASSIGN_OR_RETURN(const std::string bytes, NpyToBytes(tensor));
  return WriteFile(path, bytes);
}

}  // namespace tenon
