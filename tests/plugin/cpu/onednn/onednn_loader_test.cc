#include "plugin/cpu/onednn/onednn_loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <dnnl.hpp>

namespace tenon {
namespace {

TEST(OneDnnLoader, MultipliesMatricesThroughTheStubs) {
  ASSERT_TRUE(EnsureOneDnn().ok()) << EnsureOneDnn();
  dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  const dnnl::memory::desc type({2, 2}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::ab);
  std::array<float, 4> a = {1, 2, 3, 4}, b = {5, 6, 7, 8}, c = {};
  const dnnl::matmul matmul(dnnl::matmul::primitive_desc({type, type, type}, engine));

  matmul.execute(stream, {{DNNL_ARG_SRC, dnnl::memory(type, engine, a.data())},
                          {DNNL_ARG_WEIGHTS, dnnl::memory(type, engine, b.data())},
                          {DNNL_ARG_DST, dnnl::memory(type, engine, c.data())}});
  stream.wait();

  EXPECT_THAT(c, ::testing::ElementsAre(19, 22, 43, 50));
}

}  // namespace
}  // namespace tenon
