#include "tests/e2e/saved_model_util.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/e2e/process_util.h"
#include "tests/support/paths.h"

namespace tenon::testing {

namespace fs = std::filesystem;

std::string Folder(const std::string& name) { return Golden("saved_models/" + name + "/model"); }
std::string Cases(const std::string& name) {
  return Golden("saved_models/" + name + "/cases.json");
}

std::string CopyOf(const std::string& name, const std::string& as) {
  const std::string copy = TempPath(as);
  fs::remove_all(copy);
  fs::copy(Folder(name), copy, fs::copy_options::recursive);
  return copy;
}

std::string CopyWith(const std::string& name, const std::string& as, const std::string& bytes,
                     const std::string& instead) {
  const std::string copy = CopyOf(name, as), path = copy + "/saved_model.pb";
  std::string content = ReadFile(path);
  size_t replaced = 0;
  for (size_t at = content.find(bytes); at != content.npos;
       at = content.find(bytes, at), ++replaced)
    content.replace(at, bytes.size(), instead);
  EXPECT_GT(replaced, 0);
  std::ofstream(path, std::ios::binary) << content;
  return copy;
}

std::string TextNode(const std::string& name, const std::string& op, const std::string& inputs,
                     const std::string& attrs) {
  return "node { name: '" + name + "' op: '" + op + "' " + inputs + " " + attrs + " }\n";
}

std::string TextVarHandle(const std::string& name, const std::string& shared_name) {
  return TextNode(name, "VarHandleOp", "",
                  "attr { key: 'dtype' value { type: DT_FLOAT } } "
                  "attr { key: 'shape' value { shape { dim { size: 2 } } } } "
                  "attr { key: 'shared_name' value { s: '" +
                      shared_name + "' } }");
}

std::string WriteSavedModel(const std::string& as, const std::string& graph,
                            const std::vector<std::string>& variables) {
  const std::string folder = TempPath(as), dtype = "attr { key: 'dtype' value { type: DT_FLOAT } }",
                    shape = "{ dim { size: 2 } }";
  fs::create_directories(folder);
  std::string init = TextNode("first", "Const", "",
                              dtype +
                                  "attr { key: 'value' value { tensor { dtype: DT_FLOAT "
                                  "tensor_shape " +
                                  shape + " float_val: [2, 3] } } }"),
              set;
  for (const std::string& v : variables) {
    init += TextNode("set_" + v, "AssignVariableOp", "input: '" + v + "' input: 'first'", dtype);
    set += "input: '^set_" + v + "' ";
  }
  const auto tensor = [&](const std::string& role, const std::string& node) {
    return role + " { key: '" + node + "' value { name: '" + node +
           ":0' dtype: DT_FLOAT tensor_shape " + shape + " } }\n";
  };
  std::ofstream(folder + "/saved_model.pbtxt")
      << "saved_model_schema_version: 1 meta_graphs { meta_info_def { tags: 'serve' }\n"
      << "graph_def { "
      << TextNode("x", "Placeholder", "",
                  dtype + "attr { key: 'shape' value { shape " + shape + " } }")
      << graph << init << TextNode("init", "NoOp", set) << " versions { producer: 1000 } }\n"
      << "collection_def { key: 'saved_model_main_op' value { node_list { value: 'init' } } }\n"
      << "signature_def { key: 'serving_default' value { " << tensor("inputs", "x")
      << tensor("outputs", "y") << "method_name: 'tensorflow/serving/predict' } } }\n";
  return folder;
}

}  // namespace tenon::testing
