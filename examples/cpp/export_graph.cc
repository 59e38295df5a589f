// A traced function as files: a graph as text, and a SavedModel that TensorFlow serves too.
#include <tenon/tenon.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>

using namespace tenon;

int main() {
  Variable w(Tensor::Of<float>({{1, 2}, {3, 4}}), {.name = "w"});
  Function layer(
      [&](Tensor x) {
        const NameScope scope("dense");
        return ops::Relu(ops::MatMul(x, w));
      },
      {.name = "layer"});
  const ConcreteFunction concrete = layer.Concrete(TensorSpec(DType::kFloat, {-1, 2}, "x"));

  // Variables that are only read become constants: graph_run run exported.pbtxt needs nothing else.
  concrete.Save("exported.pbtxt");
  const Tensor x = Tensor::Of<float>({{1, 1}});
  std::cout << "session: " << Session::Load("exported.pbtxt").Run({{"x", x}}, {"output_0"})[0]
            << "\n";

  // Here they stay variables.
  std::filesystem::remove_all("exported_model");
  SaveSavedModel({{"serving_default", concrete}}, {&w}, "exported_model");
  std::cout << "saved model: " << Session::Load("exported_model").Run({{"x", x}}, {"output_0"})[0]
            << "\n";
}
