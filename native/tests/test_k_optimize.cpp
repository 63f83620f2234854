#include "k_optimize.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "split_sets.hpp"

namespace {

using kohorte::Code;
using kohorte::Count;
using kohorte::KOptimize;
using kohorte::Optimum;
using kohorte::SplitFlags;
using kohorte::SplitSets;

constexpr double kNoEnd = std::numeric_limits<double>::infinity();

struct Task {
  std::vector<Code> positions;
  std::vector<Count> weights;
  std::vector<Code> sizes;
  std::vector<Count> labels;
  std::size_t label_count = 0;
  Count k = 2;
  Count limit = 0;
  bool by_label = false;

  SplitSets sets() const { return {positions, weights, sizes, labels, label_count, k, limit, by_label}; }
};

Task random_task(std::mt19937& random, std::size_t most_splits) {
  const auto upto = [&](std::size_t most) { return static_cast<Count>(random() % (most + 1)); };
  Task task;
  std::size_t splits = 0;
  for (std::size_t attributes = 1 + random() % 4; attributes > 0; --attributes) {
    const auto size = std::min<std::size_t>(1 + random() % 5, most_splits - splits + 1);
    task.sizes.push_back(static_cast<Code>(size));
    splits += size - 1;
  }
  task.by_label = random() % 2 == 0;
  task.label_count = task.by_label ? 1 + random() % 3 : 0;
  task.k = 1 + upto(5);
  const std::size_t rows = 1 + random() % 25;
  Count all = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    for (const Code size : task.sizes) task.positions.push_back(static_cast<Code>(random() % size));
    const Count weight = 1 + upto(3);
    all += weight;
    task.weights.push_back(weight);
    std::vector<Count> labels(task.label_count, 0);
    for (Count i = 0; task.by_label && i < weight; ++i) ++labels[random() % task.label_count];
    task.labels.insert(task.labels.end(), labels.begin(), labels.end());
  }
  const Count limits[] = {0, all / 4, all, std::numeric_limits<Count>::max()};
  task.limit = limits[random() % 4];
  return task;
}

SplitFlags flags_of(std::size_t bits, std::size_t splits) {
  SplitFlags flags(splits);
  for (std::size_t i = 0; i < splits; ++i) flags[i] = bits >> i & 1;
  return flags;
}

// By definition: rows with equal numbers of chosen splits before them, attribute by attribute, are a class.
SplitSets::Result by_definition(const Task& task, const SplitFlags& chosen) {
  std::map<std::vector<Count>, std::pair<Count, std::vector<Count>>> classes;
  Count all = 0;
  for (std::size_t row = 0; row < task.weights.size(); ++row) {
    std::vector<Count> key;
    std::size_t split = 0;
    for (std::size_t attribute = 0; attribute < task.sizes.size(); ++attribute) {
      key.push_back(0);
      for (Code position = 1; position < task.sizes[attribute]; ++position, ++split) {
        if (chosen[split] != 0 && position <= task.positions[row * task.sizes.size() + attribute]) ++key.back();
      }
    }
    auto& [people, labels] = classes[key];
    labels.resize(task.label_count + 1);
    people += task.weights[row];
    all += task.weights[row];
    for (std::size_t i = 0; i < task.label_count; ++i) labels[i] += task.labels[row * task.label_count + i];
  }
  SplitSets::Result result;
  for (const auto& [key, own] : classes) {
    const auto& [people, labels] = own;
    if (people < task.k) {
      result.suppressed += people;
      result.cost += task.by_label ? people : people * all;
    } else {
      ++result.kept_classes;
      result.cost += task.by_label ? people - *std::max_element(labels.begin(), labels.end()) : people * people;
    }
  }
  return result;
}

struct Best {
  SplitFlags chosen;
  Count cost = -1;  // no set is feasible
};

Best by_trying_all(const Task& task, std::size_t splits) {
  Best best;
  const auto size = [](const SplitFlags& flags) { return std::count(flags.begin(), flags.end(), 1); };
  for (std::size_t bits = 0; bits < std::size_t{1} << splits; ++bits) {
    const SplitFlags chosen = flags_of(bits, splits);
    const auto result = by_definition(task, chosen);
    if (result.suppressed > task.limit) continue;
    const bool better = best.cost < 0 || result.cost < best.cost ||
                        (result.cost == best.cost &&
                         (size(chosen) < size(best.chosen) ||
                          (size(chosen) == size(best.chosen) && chosen > best.chosen)));
    if (better) best = {chosen, result.cost};
  }
  return best;
}

void costs_are_those_of_the_definition() {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const Task task = random_task(random, 12);
    const SplitSets sets = task.sets();
    SplitFlags chosen = flags_of(random(), sets.splits());
    const auto expected = by_definition(task, chosen), found = sets.result(chosen);
    CHECK_EQ(found.cost, expected.cost);
    CHECK_EQ(found.suppressed, expected.suppressed);
    CHECK_EQ(found.kept_classes, expected.kept_classes);
    const auto [costs, gone] = sets.neighbours(chosen);
    for (std::size_t split = 0; split < sets.splits(); ++split) {
      chosen[split] ^= 1;
      const auto neighbour = by_definition(task, chosen);
      chosen[split] ^= 1;
      CHECK_EQ(costs[split], neighbour.cost);
      CHECK_EQ(gone[split], neighbour.suppressed);
    }
  }
}

void the_best_set_is_found() {
  std::mt19937 random(2);
  for (int round = 0; round < 600; ++round) {
    const Task task = random_task(random, 8);
    const SplitSets sets = task.sets();
    const Best expected = by_trying_all(task, sets.splits());
    if (expected.cost < 0) continue;
    for (const bool climb_first : {true, false}) {  // climbing alone finds most of these
      const Optimum found = KOptimize(sets, SplitFlags(sets.splits(), 0), kNoEnd, nullptr).run(climb_first);
      CHECK(found.complete);
      CHECK_EQ(found.cost, expected.cost);
      CHECK_EQ(found.lower_bound, expected.cost);
      CHECK(found.best == expected.chosen);
    }
  }
}

void a_search_that_is_stopped_knows_a_bound() {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    const Task task = random_task(random, 8);
    const SplitSets sets = task.sets();
    const Best expected = by_trying_all(task, sets.splits());
    if (expected.cost < 0) continue;
    const Optimum found = KOptimize(sets, SplitFlags(sets.splits(), 0), 0.0, nullptr).run(round % 2 == 0);
    CHECK(found.lower_bound <= expected.cost);
    CHECK(found.cost >= expected.cost);
    CHECK_EQ(sets.result(found.best).cost, found.cost);
    for (int last = 1; last < 12; ++last) {  // stopped at every stage
      int calls = 0;
      const auto watch = [&](std::int64_t, Count cost, Count lower) {
        CHECK(lower <= expected.cost && expected.cost <= cost);
        return ++calls < last;
      };
      const Optimum watched = KOptimize(sets, SplitFlags(sets.splits(), 0), kNoEnd, watch, 0.0).run(round % 2 == 0);
      CHECK(watched.complete == (calls < last));
      CHECK(watched.lower_bound <= expected.cost && expected.cost <= watched.cost);
      if (watched.complete) CHECK(watched.best == expected.chosen);
    }
  }
}

// 40 attributes of 50 values: no one number holds a combination of them.
void wide_tables() {
  std::mt19937 random(4);
  Task task;
  task.sizes.assign(40, 50);
  task.weights.assign(30, 1);
  for (std::size_t i = 0; i < 30 * 40; ++i) task.positions.push_back(static_cast<Code>(random() % 50));
  const SplitSets sets = task.sets();
  SplitFlags chosen(sets.splits(), 1);
  CHECK_EQ(sets.result(chosen).suppressed, 30);
  CHECK_EQ(sets.result(chosen).cost, 900);
  const Optimum found = KOptimize(sets, SplitFlags(sets.splits(), 0), 0.3, nullptr).run();
  CHECK(found.lower_bound <= found.cost);
  CHECK_EQ(by_definition(task, found.best).cost, found.cost);
  CHECK_EQ(by_definition(task, found.best).suppressed, 0);
}

bool refuses(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::invalid_argument&) {
    return true;
  }
  return false;
}

void bad_input() {
  const Task sound{{0, 1, 1, 0}, {2, 3}, {2, 2}, {1, 1, 3, 0}, 2, 2, 0, true};
  const auto refused = [&](const std::function<void(Task&)>& change) {
    Task task = sound;
    change(task);
    return refuses([&] { task.sets(); });
  };
  CHECK(!refused([](Task&) {}));
  CHECK(refused([](Task& task) { task.positions[2] = 2; }));
  CHECK(refused([](Task& task) { task.positions.pop_back(); }));
  CHECK(refused([](Task& task) { task.weights[0] = 0; }));
  CHECK(refused([](Task& task) { task.weights[0] = Count{1} << 60; }));
  CHECK(refused([](Task& task) { task.labels[0] = 2; }));
  CHECK(refused([](Task& task) { task.labels[0] = -1; }));
  CHECK(refused([](Task& task) { task.labels.pop_back(); }));
  CHECK(refused([](Task& task) { task.sizes[1] = 0; }));
  CHECK(refused([](Task& task) { task.k = 0; }));
  CHECK(refused([](Task& task) { task.limit = -1; }));
  CHECK(refused([](Task& task) { task = {{}, {}, {2}, {}, 0, 1, 0, false}; }));
  const SplitSets sets = sound.sets();
  CHECK(refuses([&] { sets.result(SplitFlags(3)); }));
  CHECK(refuses([&] { sets.neighbours(SplitFlags(1)); }));
  CHECK(refuses([&] { KOptimize(sets, SplitFlags(1), 1.0, nullptr); }));
  CHECK(refuses([&] { KOptimize(sets, SplitFlags(2), -1.0, nullptr); }));
  Task strict = sound;
  strict.k = 3;
  const SplitSets strict_sets = strict.sets();
  CHECK(refuses([&] { KOptimize(strict_sets, SplitFlags(2, 1), 1.0, nullptr); }));
}

}  // namespace

int main() {
  costs_are_those_of_the_definition();
  the_best_set_is_found();
  a_search_that_is_stopped_knows_a_bound();
  wide_tables();
  bad_input();
  return 0;
}
