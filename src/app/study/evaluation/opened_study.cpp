#include "recoil/app/study/evaluation/opened_study.hpp"

#include <algorithm>
#include <iterator>

#include "recoil/parallel/environment.hpp"

namespace recoil::app {

namespace {

int count_groups(const parallel::Communicator& comm, const Study& study) {
  const bool on_one_machine = comm.all(parallel::ranks_on_this_machine(comm) == comm.size());
  const int wanted = study.optimizer.groups.value_or(on_one_machine ? comm.size() : 1);
  return std::min<int>({wanted, comm.size(), static_cast<int>(std::ssize(study.experiments))});
}

} // namespace

OpenedStudy::OpenedStudy(const parallel::Communicator& comm, const Options& options)
    : interrupts_(comm), loaded_(load_study(comm, options.study, interrupts_, options.text)),
      folder_(StudyFolder::create(comm, {"evaluation", "evaluation.json", {}}, options.folder, study())) {
  std::vector<std::string> scenes;
  for (const LoadedScene& scene : loaded_.scenes) scenes.push_back(scene_as_run(scene.file));
  folder_.begin(comm, study(), loaded_.file.resolved, scenes, loaded_.files);
  folder_.settle();
  loaded_.scenes.clear(); // each group reads its own
  groups_ = std::make_unique<ExperimentGroups>(comm, count_groups(comm, study()));
  objective_ = std::make_unique<StudyObjective>(study(), folder_, *groups_);
  objective_->freeze_stiffness();
}

} // namespace recoil::app
