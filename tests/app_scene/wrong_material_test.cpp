#include <gtest/gtest.h>

#include "app_scene/scene_text.hpp"

namespace recoil::app {
namespace {

class WrongMaterial : public ::testing::TestWithParam<WrongInput> {};

TEST_P(WrongMaterial, IsRefused) { expect_refused(GetParam()); }

const WrongInput inputs[] = {
    {"none", R"({"materials": null})", {"/materials", "no material", "'box'"}},
    {"of_another_id",
     R"({"materials": [{"id": 3, "type": "NeoHookean", "E": 1, "nu": 0}]})",
     {"/materials", "'box'", "volume id 0", "no material"}},
    {"no_type", R"({"materials": {"E": 1, "nu": 0}})", {"(/materials)", "'type' is missing"}},
    {"unknown_type",
     R"({"materials": [{"type": "NeoHooken", "E": 1, "nu": 0}]})",
     {"(/materials/0/type)", "NeoHooken", "did you mean 'NeoHookean'"}},
    {"poisson_too_large",
     R"({"materials": [{"type": "NeoHookean", "E": 1, "nu": 0.5}]})",
     {"(/materials/0/nu)", "between -1 and 0.5", "is 0.5"}},
    {"poisson_too_small",
     R"({"materials": [{"type": "NeoHookean", "E": 1, "nu": -1}]})",
     {"(/materials/0/nu)", "is -1"}},
    {"poisson_formula",
     R"({"materials": [{"type": "NeoHookean", "E": 1, "nu": "0.25*2"}]})",
     {"(/materials/0/nu)", "0.25*2"}},
    {"young_not_positive",
     R"({"materials": [{"type": "NeoHookean", "E": 0, "nu": 0.3}]})",
     {"(/materials/0/E)", "> 0", "is 0"}},
    {"no_density",
     R"({"materials": [{"type": "NeoHookean", "E": 1, "nu": 0.3, "rho": 0}]})",
     {"(/materials/0/rho)", "> 0"}},
    {"no_poisson", R"({"materials": [{"type": "NeoHookean", "E": 1}]})", {"(/materials/0)", "`E` and `nu`"}},
    {"mixed_pairs",
     R"({"materials": [{"type": "NeoHookean", "E": 1, "nu": 0.2, "mu": 3}]})",
     {"(/materials/0)", "left over"}},
    {"negative_bulk_modulus",
     R"({"materials": [{"type": "NeoHookean", "lambda": -5, "mu": 1}]})",
     {"(/materials/0/lambda)", "lambda + 2 mu/3", "-4.33"}},
    {"mooney_constant_missing",
     R"({"materials": [{"type": "MooneyRivlin", "c1": 1, "k": 2}]})",
     {"(/materials/0)", "`c2` is missing"}},
    {"constant_of_another_law",
     R"({"materials": [{"type": "MooneyRivlin", "E": 1, "c1": 1, "c2": 1, "k": 2}]})",
     {"(/materials/0/E)", "not a constant of MooneyRivlin"}},
    {"same_id_twice",
     R"({"materials": [{"id": [0, 1], "type": "NeoHookean", "E": 1, "nu": 0}, {"id": 1, "type": "NeoHookean", "E": 2, "nu": 0}]})",
     {"(/materials/1)", "id 1", "given already", "(/materials/0)"}},
    {"unknown_body",
     R"({"materials": [{"body": "bax", "type": "NeoHookean", "E": 1, "nu": 0}]})",
     {"(/materials/0)", "no body 'bax'", "did you mean 'box'"}},
    {"id_and_body",
     R"({"materials": [{"id": 1, "body": "box", "type": "NeoHookean", "E": 1, "nu": 0}]})",
     {"(/materials/0)", "both `id` and `body`"}},
    {"foreign_unit",
     R"({"materials": [{"type": "NeoHookean", "E": {"value": 1, "unit": "GPa"}, "nu": 0}]})",
     {"(/materials/0/E)", "\"unit\": \"Pa\"", "GPa"}},
    {"unit_with_a_slip",
     R"({"materials": [{"type": "NeoHookean", "E": {"value": 1, "unitt": "Pa"}, "nu": 0}]})",
     {"(/materials/0/E)", "unitt"}},
    {"id_too_large",
     R"({"materials": [{"id": 18446744073709551615, "type": "NeoHookean", "E": 1, "nu": 0}]})",
     {"(/materials/0/id)", "integer", "18446744073709551615"}},
    {"syntax_of_formula",
     R"({"materials": [{"type": "NeoHookean", "E": "1e5*(1+x", "nu": 0}]})",
     {"(/materials/0/E)"}},
    {"unknown_function",
     R"json({"materials": [{"type": "NeoHookean", "E": "sine(x)", "nu": 0}]})json",
     {"(/materials/0/E)", "sine"}},
    {"element_data_without_dataset",
     R"({"materials": [{"type": "NeoHookean", "E": {"file": "meshes/square.obj"}, "nu": 0}]})",
     {"(/materials/0/E)", "dataset"}},
    {"element_data_without_file",
     R"({"materials": [{"type": "NeoHookean", "E": {"file": "no.h5", "dataset": "/E"}, "nu": 0}]})",
     {"(/materials/0/E/file)", "no such file"}},
};

INSTANTIATE_TEST_SUITE_P(Table, WrongMaterial, ::testing::ValuesIn(inputs),
                         [](const auto& info) { return std::string(info.param.name); });

} // namespace
} // namespace recoil::app
