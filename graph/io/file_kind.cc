// Recognizes files that users name by mistake, by their first bytes or by the fields of their
// message, so that the error says what the file is and what to name instead.

#include "graph/io/file_kind.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "graph/wire/wire.h"

namespace tenon {
namespace {

using namespace std::string_view_literals;

struct Kind {
  std::string_view begin;
  std::string_view text;
};

constexpr std::string_view kSavedModel =
    "is the SavedModel's file, not a graph: name the folder that it is in";
constexpr std::string_view kMetaGraph =
    "is a MetaGraphDef, as tf.train.Saver writes beside a checkpoint (.meta), not a graph: write a "
    "SavedModel from it (tf.compat.v1.train.import_meta_graph and restore, then "
    "tf.compat.v1.saved_model.simple_save) and name its folder";
constexpr std::string_view kKeras =
    "is a Keras model, not a graph: model = keras.models.load_model(FILE), then model.export(DIR), "
    "and name DIR";
constexpr std::string_view kPage =
    "is a page of the web, not a graph: what was wanted is elsewhere";

constexpr std::string_view kWebModel =
    "is a TensorFlow.js model, not a graph: name the folder of the SavedModel that it was made "
    "from";
constexpr std::string_view kJson =
    "is JSON, not a graph: a GraphDef is read as binary or as text (.pbtxt)";

// First bytes with which no GraphDef begins: a GraphDef begins with the tag of a field, 0a for a
// node.
constexpr Kind kBinary[] = {
    {"\x89HDF\r\n\x1a\n"sv,
     "is an HDF5 file, in which older Keras keeps models (.h5), not a graph: model = "
     "keras.models.load_model(FILE), then model.export(DIR), and name DIR"},
    {"\x93NUMPY"sv, "is a NumPy array, not a graph: --input NAME=@FILE feeds one"},
    {"\x28\xb5\x2f\xfd"sv, "is packed with Zstandard, which is not read here: zstd -d unpacks it"},
    {"\x04\x22\x4d\x18"sv, "is packed with LZ4, which is not read here: lz4 -d unpacks it"},
    {"\x7f"
     "ELF"sv,
     "is a program or a library, not a graph: --plugin loads plug-ins"},
    {"ML\xefR"sv, "is MLIR bytecode, not a GraphDef"},
    {"GGUF"sv, "is a GGUF model, not a GraphDef"},
};

constexpr Kind kText[] = {
    {"version https://git-lfs.github.com/spec/v1"sv,
     "is a pointer of Git LFS to a file that was not fetched: git lfs pull fetches it"},
    {"saved_model_schema_version"sv, kSavedModel},
    {"meta_graphs"sv, kSavedModel},
    {"meta_info_def"sv, kMetaGraph},
    {"model_checkpoint_path"sv,
     "is the list of a folder's checkpoints, not a graph: a checkpoint holds values only"},
    {"<!doctype"sv, kPage},
    {"<html"sv, kPage},
};

constexpr std::string_view kLocalFile = "PK\x03\x04"sv;  // of a zip archive
// The magic number of LevelDB's tables, with which the index of a checkpoint ends.
constexpr std::string_view kTableEnd = "\x57\xfb\x80\x8b\x24\x75\x47\xdb"sv;
constexpr size_t kTarMagic = 257, kLiteMagic = 4;  // bytes before the magic of either format

bool Has(std::string_view content, size_t at, std::string_view bytes) {
  return content.size() >= at && content.substr(at).starts_with(bytes);
}

// A zip archive has the names of its files before each file and in the directory at its end. Large
// archives are looked at on both ends only.
std::string_view KindOfZip(std::string_view content) {
  constexpr size_t kLook = size_t{1} << 16;
  const std::string_view head = content.substr(0, kLook);
  const std::string_view tail = content.substr(content.size() - std::min(content.size(), kLook));
  const auto holds = [&](std::string_view name) {
    return absl::StrContains(head, name) || absl::StrContains(tail, name);
  };
  if (holds("model.weights.h5")) return kKeras;
  if (holds("saved_model.pb"))
    return "is a zip archive with a SavedModel: unpack it, and name the folder that "
           "saved_model.pb is in";
  if (holds(".npy")) return "is a NumPy archive, not a graph: --inputs FILE feeds its arrays";
  if (holds("/data.pkl"))
    return "is a PyTorch file, not a graph: export the model to ONNX (torch.onnx.export), and "
           "make a SavedModel of that";
  return "is a zip archive, not a graph: unpack it";
}

// A member of an object: '{', a name in quotes, and a ':'. The first bytes of a binary node may
// look like the '{' and the '"', but not like the rest.
bool IsJson(std::string_view text) {
  const auto skip = [&text](char c) {
    text = absl::StripLeadingAsciiWhitespace(text);
    const bool found = text.starts_with(c);
    if (found) text.remove_prefix(1);
    return found;
  };
  if (!skip('{') || !skip('"')) return false;
  text.remove_prefix(std::min(text.find('"'), text.size()));
  return skip('"') && skip(':');
}

std::string_view KindOfText(std::string_view content) {
  std::string_view rest = content.substr(0, 4096);
  while (true) {
    rest = absl::StripLeadingAsciiWhitespace(rest);
    if (!rest.starts_with('#')) break;
    rest.remove_prefix(std::min(rest.find('\n'), rest.size()));
  }
  for (const Kind& kind : kText) {
    if (!absl::StartsWithIgnoreCase(rest, kind.begin)) continue;
    // Tag and lengths of a binary node may look like blanks: behind its name comes a tag, or more
    // of the name.
    const char next = rest.size() == kind.begin.size() ? ' ' : rest[kind.begin.size()];
    if (absl::ascii_isspace(next) || absl::StrContains(":{<>", next)) return kind.text;
  }
  if (IsJson(rest)) return absl::StrContains(rest, "\"modelTopology\"") ? kWebModel : kJson;
  return {};
}

// "BZh", the level, and the magic number of a block or of the end.
bool IsBzip2(std::string_view content) {
  return content.starts_with("BZh") && content.size() > 4 && absl::ascii_isdigit(content[3]) &&
         (Has(content, 4, "1AY&SY") || Has(content, 4, "\x17\x72\x45\x38\x50\x90"));
}

// The first field of a message, if it has this number and holds bytes; else empty.
std::string_view FirstBytes(std::string_view message, uint32_t number) {
  WireReader reader(message);
  WireField f;
  return reader.Next(&f) && f.number == number && f.type == WireType::kBytes ? f.bytes
                                                                             : std::string_view();
}

bool HasBytes(std::string_view message, uint32_t number) {
  WireReader reader(message);
  WireField f;
  while (reader.Next(&f)) {
    if (f.number == number && f.type == WireType::kBytes) return true;
  }
  return false;
}

// Tells a MetaGraphDef (.meta) from a GraphDef. Field 2 is a library of functions in a GraphDef and
// a GraphDef in a MetaGraphDef. The first field of a library is a FunctionDef, which begins with a
// message; the first of a GraphDef is a NodeDef, which begins with a printable name.
bool IsMetaGraph(std::string_view content) {
  WireReader reader(content);
  WireField f;
  if (!reader.Next(&f) || f.number != 1 || f.type != WireType::kBytes) return false;
  if (!reader.Next(&f) || f.number != 2 || f.type != WireType::kBytes) return false;
  const std::string_view node = FirstBytes(f.bytes, 1), name = FirstBytes(node, 1);
  return !name.empty() && HasBytes(node, 2) &&
         std::all_of(name.begin(), name.end(), absl::ascii_isgraph);
}

// A message with a number as field 1, where a GraphDef has nodes: SavedModel, ONNX or something
// unknown.
std::string_view KindOfNumbered(std::string_view content) {
  WireReader reader(content);
  WireField f;
  if (!reader.Next(&f) || f.number != 1 || f.type != WireType::kVarint) return {};
  bool graph = false, operators = false;
  while (reader.Next(&f)) {
    if (f.type != WireType::kBytes) continue;
    if (f.number == 2 && HasBytes(f.bytes, 1) && HasBytes(f.bytes, 2)) return kSavedModel;
    graph |= f.number == 7;
    operators |= f.number == 8;
  }
  return graph && operators
             ? "is an ONNX model, not a GraphDef: make a SavedModel of it (onnx2tf -i "
               "FILE -o DIR), and name DIR"
             : "is a protobuf message of another kind than GraphDef";
}

}  // namespace

std::string_view WhatItIsInstead(std::string_view content) {
  for (const Kind& kind : kBinary) {
    if (content.starts_with(kind.begin)) return kind.text;
  }
  if (IsBzip2(content)) return "is packed with bzip2, which is not read here: bunzip2 unpacks it";
  if (content.starts_with(kLocalFile)) return KindOfZip(content);
  if (content.starts_with('\0') && content.ends_with(kTableEnd))
    return "is the index of a checkpoint, which holds values only: name the folder of a SavedModel";
  // A GraphDef begins with a node (0a), whose name may hold these words at these places.
  const bool node = content.starts_with('\n');
  if (!node && Has(content, kTarMagic, "ustar"))
    return "is a tar archive, not a graph: unpack it, and name the folder that saved_model.pb is "
           "in";
  if (!node && Has(content, kLiteMagic, "TFL3"))
    return "is a TensorFlow Lite model: name the folder of the SavedModel that it was made from";
  if (const std::string_view kind = KindOfText(content); !kind.empty()) return kind;
  return IsMetaGraph(content) ? kMetaGraph : KindOfNumbered(content);
}

std::string_view WhatItsNameSays(std::string_view path) {
  constexpr std::string_view kData = ".data-", kOf = "-of-";
  const size_t data = path.rfind(kData);
  if (data == path.npos) return {};
  const std::string_view numbers = path.substr(data + kData.size());
  const bool is_part = absl::StrContains(numbers, kOf) && std::ranges::all_of(numbers, [](char c) {
                         return absl::ascii_isdigit(c) || c == '-' || c == 'o' || c == 'f';
                       });
  return is_part
             ? "is a part of a checkpoint, which holds values only: name the folder of a SavedModel"
             : std::string_view();
}

}  // namespace tenon
