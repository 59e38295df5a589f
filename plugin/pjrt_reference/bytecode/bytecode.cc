#include "bytecode.h"

#include <utility>

#include "properties.h"
#include "reader.h"
#include "tables.h"

namespace pjref {
namespace {

constexpr std::string_view kMagic = "ML\xEFR";

// Sections by their ids.
enum Section : uint8_t {
  kTexts = 0,
  kDialects = 1,
  kEntries = 2,
  kOffsets = 3,
  kOps = 4,
  kPropertyValues = 8
};
// What an op has.
enum Mask : uint8_t {
  kAttributes = 1,
  kResults = 2,
  kOperands = 4,
  kSuccessors = 8,
  kRegions = 16,
  kUseLists = 32,
  kProperties = 64
};

class OpReader {
 public:
  OpReader(Tables* tables, uint64_t version, const char* start)
      : tables_(*tables), version_(version), start_(start) {}

  // The block that holds the module.
  std::unique_ptr<Module> Read(std::string_view section) {
    module_ = std::make_unique<Module>();
    ByteReader reader(section);
    ReadOps(&reader, reader.Number() >> 1, nullptr);
    return std::move(module_);
  }

 private:
  // The values of a function that are in sight. Regions put theirs behind those around them.
  struct Scope {
    std::vector<int> values;
    size_t next = 0;
  };

  void ReadOps(ByteReader* reader, uint64_t count, Region* region) {
    for (uint64_t i = 0; i < count; ++i) ReadOp(reader, region);
  }

  std::string_view SectionBytes(ByteReader* reader) {
    const uint8_t id = reader->Byte();
    const uint64_t size = reader->Number();
    if (id & 0x80) reader->Align(start_, reader->Number());
    return reader->Bytes(size);
  }

  // The order in which `values` values are used: how many have one and which stand there only if
  // there are several.
  static void SkipUseLists(ByteReader* reader, size_t values) {
    const uint64_t count = values > 1 ? reader->Count() : 1;
    for (uint64_t i = 0; i < count; ++i) {
      if (values > 1) reader->Number();
      const uint64_t indices = reader->Number() >> 1;
      for (uint64_t k = 0; k < indices; ++k) reader->Number();
    }
  }

  void ReadOp(ByteReader* reader, Region* region) {
    Op op;
    const std::string name = tables_.OpName(reader->Number());
    const uint8_t mask = reader->Byte();
    reader->Number();  // The location.
    op.place = {0, ++number_};
    op.attributes.kind = Attribute::Kind::kDictionary;
    if (mask & kAttributes) op.attributes = tables_.AttributeAt(reader->Number());
    if (mask & kProperties) ReadProperties(reader->Number(), name, &op);
    if (mask & kResults) {
      op.result_types.resize(reader->Count());
      for (Type& type : op.result_types) type = tables_.TypeAt(reader->Number()).type;
    }
    if (mask & kOperands) ReadOperands(reader, &op);
    if (mask & kSuccessors)
      throw Refusal(Code::kUnimplemented, "the bytecode has a branch, which is not supported");
    if (mask & kUseLists) SkipUseLists(reader, op.result_types.size());
    if (name == "vhlo.func_v1") return ReadFunction(reader, mask, std::move(op));
    if (region) {
      for (const Type& type : op.result_types) op.results.push_back(Define(type));
    }
    if (mask & kRegions) ReadRegions(reader, name, &op);
    if (!region) return;  // The module, or what tells of devices: sdy.mesh.
    Translate(name, &op);
    region->ops.push_back(std::move(op));
  }

  void ReadProperties(uint64_t number, const std::string& name, Op* op) {
    if (name.compare(0, 5, "vhlo.") != 0) return;
    if (number >= tables_.properties().size())
      ByteReader::Fail("the properties of '" + name + "' are unknown");
    ByteReader values(tables_.properties()[number]);
    for (std::string_view key : PropertiesOf(std::string_view(name).substr(5))) {
      op->attributes.Set(key, tables_.AttributeAt(values.Number()));
    }
  }

  void ReadOperands(ByteReader* reader, Op* op) {
    const uint64_t count = reader->Count();
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t id = reader->Number();
      if (scopes_.empty() || id >= scopes_.back().values.size() || scopes_.back().values[id] < 0) {
        ByteReader::Fail("an operand is not defined");
      }
      op->operands.push_back(scopes_.back().values[id]);
      op->operand_types.push_back(function_->value_types[op->operands.back()]);
    }
  }

  int Define(const Type& type) {
    Scope& scope = scopes_.back();
    if (scope.next >= scope.values.size())
      ByteReader::Fail("a region has more values than it says");
    function_->value_types.push_back(type);
    return scope.values[scope.next++] = static_cast<int>(function_->value_types.size()) - 1;
  }

  void ReadRegions(ByteReader* reader, const std::string& name, Op* op) {
    const uint64_t header = reader->Number();
    if (header >> 1 > 4096) ByteReader::Fail("an op has too many regions");
    const bool in_function = name != "builtin.module";
    // Regions that take nothing from outside count their values from 0, and are a section of their
    // own.
    const bool isolated = (header & 1) != 0;
    ByteReader inner(isolated && version_ >= 2 ? SectionBytes(reader) : std::string_view());
    if (isolated) scopes_.emplace_back();
    for (uint64_t i = 0; i < header >> 1; ++i) {
      op->regions.push_back(ReadRegion(isolated && version_ >= 2 ? &inner : reader, in_function));
    }
    if (isolated) scopes_.pop_back();
  }

  Region ReadRegion(ByteReader* reader, bool in_function) {
    Region region;
    const uint64_t blocks = reader->Number();
    if (blocks == 0) return region;
    if (blocks > 1)
      throw Refusal(Code::kUnimplemented, "regions of several blocks are not supported");
    if (++depth_ > kMostNesting) ByteReader::Fail("regions are nested too deeply");
    const uint64_t count = reader->Count();
    const uint64_t header = reader->Number();
    if (in_function) {
      if (scopes_.empty() || !function_) ByteReader::Fail("a region stands outside of functions");
      const size_t outer = scopes_.back().values.size(), next = scopes_.back().next;
      scopes_.back().values.resize(outer + count, -1);
      scopes_.back().next = outer;
      if (header & 1) ReadArguments(reader, &region);
      ReadOps(reader, header >> 1, &region);
      scopes_.back().values.resize(outer);
      scopes_.back().next = next;
    } else {
      ReadOps(reader, header >> 1, nullptr);
    }
    --depth_;
    return region;
  }

  void ReadArguments(ByteReader* reader, Region* region) {
    const uint64_t count = reader->Count();
    for (uint64_t i = 0; i < count; ++i) {
      uint64_t number = reader->Number();
      if (version_ < 4) {
        reader->Number();
      } else {
        if (number & 1) reader->Number();
        number >>= 1;
      }
      region->argument_types.push_back(tables_.TypeAt(number).type);
      region->arguments.push_back(Define(region->argument_types.back()));
    }
    if (version_ >= 3 && reader->Byte()) SkipUseLists(reader, count);
  }

  void ReadFunction(ByteReader* reader, uint8_t mask, Op op) {
    auto made = std::make_unique<Function>();
    // The numbers of an outer function's values would be read as those of the inner one.
    if (function_ != nullptr) ByteReader::Fail("a function stands inside of a function");
    function_ = made.get();
    made->name = op.Word("sym_name");
    made->place = op.place;
    const Attribute* type = op.Find("function_type");
    if (!type || type->kind != Attribute::Kind::kType) ByteReader::Fail("a function has no type");
    const FileType& signature = tables_.TypeAt(static_cast<uint64_t>(type->integer));
    made->result_types = signature.outputs;
    if (const Attribute* attributes = op.Find("arg_attrs"))
      made->argument_attributes = attributes->items;
    made->argument_attributes.resize(signature.inputs.size());
    if (mask & kRegions) ReadRegions(reader, "vhlo.func_v1", &op);
    function_ = nullptr;
    if (op.regions.size() != 1 || op.regions[0].ops.empty() ||
        op.regions[0].argument_types != signature.inputs) {
      ByteReader::Fail("the body of function '" + made->name + "' does not fit its type");
    }
    made->body = std::move(op.regions[0]);
    if (made->body.ops.back().name == "stablehlo.return")
      made->body.ops.back().name = "func.return";
    module_->functions.push_back(std::move(made));
  }

  // "vhlo.add_v1" becomes "stablehlo.add", its attributes those that the checker knows.
  static void Translate(const std::string& name, Op* op) {
    const size_t version = name.rfind("_v");
    if (name.compare(0, 5, "vhlo.") != 0 || version == std::string::npos) {
      op->name = name;
      return;
    }
    const std::string bare = name.substr(5, version - 5);
    op->name = (bare == "call" ? "func." : "stablehlo.") + bare;
    const Attribute all = op->attributes;
    if (bare == "dot_general") op->attributes.Set("dot_dimension_numbers", all);
    if (bare == "gather" || bare == "convolution") op->attributes.Set("dimension_numbers", all);
    if (bare == "scatter") op->attributes.Set("scatter_dimension_numbers", all);
  }

  Tables& tables_;
  const uint64_t version_;
  const char* const start_;
  std::unique_ptr<Module> module_;
  Function* function_ = nullptr;
  std::vector<Scope> scopes_;
  int number_ = 0;
  int depth_ = 0;
};

}  // namespace

bool IsBytecode(std::string_view bytes) { return bytes.substr(0, kMagic.size()) == kMagic; }

std::unique_ptr<Module> ParseBytecode(std::string_view bytes) {
  const char* start = bytes.data();
  ByteReader reader(bytes.substr(kMagic.size()));
  const uint64_t version = reader.Number();
  if (version > 6)
    throw Refusal(Code::kUnimplemented,
                  "version " + std::to_string(version) + " of MLIR's bytecode is not supported");
  reader.Text();  // Who wrote it.
  std::string_view sections[128];
  while (!reader.AtEnd()) {
    const uint8_t id = reader.Byte();
    const uint64_t size = reader.Number();
    if (id & 0x80) reader.Align(start, reader.Number());
    sections[id & 0x7F] = reader.Bytes(size);
  }
  Tables tables;
  tables.ReadTexts(sections[kTexts]);
  tables.ReadDialects(sections[kDialects], version, start);
  tables.ReadOffsets(sections[kOffsets], sections[kEntries]);
  tables.ReadProperties(sections[kPropertyValues]);
  return OpReader(&tables, version, start).Read(sections[kOps]);
}

}  // namespace pjref
