#include "histogram.hpp"
#include "tree.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "check.hpp"

namespace {

using kohorte::Code;
using kohorte::Codes;
using kohorte::Count;
using kohorte::Tree;
using Doubles = std::vector<double>;
using Maps = std::vector<std::vector<Code>>;

struct Task {
  std::vector<std::int64_t> starts{0};
  std::vector<Code> values;
  std::vector<Count> counts;
  std::vector<Count> overall;
  Maps maps;

  std::size_t classes() const { return starts.size() - 1; }
};

Tree tree_of(const Task& task) {
  const std::vector<Codes> levels(task.maps.begin(), task.maps.end());
  return Tree(levels, task.overall);
}

Doubles equal(const Task& task) {
  return kohorte::equal_distance(task.starts, task.values, task.counts, task.overall);
}

Doubles ordered(const Task& task) {
  return kohorte::ordered_distance(task.starts, task.values, task.counts, task.overall);
}

Doubles hierarchical(const Task& task) { return tree_of(task).distances(task.starts, task.values, task.counts); }

Maps random_maps(std::mt19937& random, std::size_t known) {
  Maps maps(1, std::vector<Code>(known));
  std::iota(maps[0].begin(), maps[0].end(), Code{0});
  const std::size_t height = random() % 5;
  while (maps.size() <= height) {
    std::vector<Code> merged, level;
    const std::size_t groups = 1 + random() % known;
    for (std::size_t g = 0; g < known; ++g) merged.push_back(static_cast<Code>(random() % groups));
    for (Code group : maps.back()) level.push_back(merged[group]);
    maps.push_back(std::move(level));
  }
  return maps;
}

Task random_task(std::mt19937& random) {
  Task task;
  const std::size_t known = random() % 4 == 0 ? 1 + random() % 150 : 1 + random() % 8;
  const std::size_t classes = random() % 6;
  const Count most = random() % 3 == 0 ? 1'000'000'000 : 1 + static_cast<Count>(random() % 20);
  std::vector<Code> all(known);
  std::iota(all.begin(), all.end(), Code{0});
  for (std::size_t v = 0; v < known; ++v) task.overall.push_back(static_cast<Count>(random()) % (most + 1));
  task.overall[random() % known] += 1;
  for (std::size_t i = 0; i < classes; ++i) {
    std::shuffle(all.begin(), all.end(), random);
    const std::size_t size = 1 + random() % std::min<std::size_t>(known, random() % 2 == 0 ? 3 : 150);
    task.values.insert(task.values.end(), all.begin(), all.begin() + static_cast<std::ptrdiff_t>(size));
    for (std::size_t k = 0; k < size; ++k) task.counts.push_back(1 + static_cast<Count>(random()) % most);
    task.starts.push_back(static_cast<std::int64_t>(task.values.size()));
  }
  task.maps = random_maps(random, known);
  return task;
}

// p - q for all values.
std::vector<long double> extras(const Task& task, std::size_t i) {
  const auto table = static_cast<long double>(std::accumulate(task.overall.begin(), task.overall.end(), Count{0}));
  const auto first = static_cast<std::size_t>(task.starts[i]), stop = static_cast<std::size_t>(task.starts[i + 1]);
  long double rows = 0;
  for (std::size_t k = first; k < stop; ++k) rows += static_cast<long double>(task.counts[k]);
  std::vector<long double> found;
  for (Count count : task.overall) found.push_back(-static_cast<long double>(count) / table);
  for (std::size_t k = first; k < stop; ++k) found[task.values[k]] += static_cast<long double>(task.counts[k]) / rows;
  return found;
}

long double obvious_equal(const std::vector<long double>& extra) {
  long double total = 0;
  for (long double e : extra) total += std::abs(e) / 2;
  return total;
}

long double obvious_ordered(const std::vector<long double>& extra) {
  long double total = 0, sum = 0;
  for (std::size_t i = 0; i + 1 < extra.size(); ++i) total += std::abs(sum += extra[i]);
  return extra.size() <= 1 ? 0 : total / static_cast<long double>(extra.size() - 1);
}

struct Node {
  long double positive = 0, negative = 0;

  void add(long double extra) { (extra > 0 ? positive : negative) += std::abs(extra); }
  long double moved() const { return std::min(positive, negative); }
};

// Inner node by inner node, each at its cost; what is left at the top is moved at cost 1.
long double obvious_hierarchical(const std::vector<long double>& extra, const Maps& maps) {
  const std::size_t height = maps.size() - 1;
  if (height == 0) return 0;
  long double total = 0;
  std::map<Code, long double> below;
  for (std::size_t v = 0; v < extra.size(); ++v) below[maps[0][v]] += extra[v];
  for (std::size_t level = 1; level <= height; ++level) {
    std::map<Code, Code> parent;
    for (std::size_t v = 0; v < extra.size(); ++v) parent[maps[level - 1][v]] = maps[level][v];
    std::map<Code, Node> nodes;
    std::map<Code, long double> sums;
    for (const auto& [child, e] : below) {
      nodes[parent[child]].add(e);
      sums[parent[child]] += e;
    }
    for (const auto& [group, node] : nodes) {
      total += node.moved() * static_cast<long double>(level) / static_cast<long double>(height);
    }
    below = std::move(sums);
  }
  Node root;
  for (const auto& [group, e] : below) root.add(e);
  return total + root.moved();
}

void check_near(double got, long double wanted) { CHECK(std::abs(static_cast<long double>(got) - wanted) < 1e-15L); }

void random_distances() {
  std::mt19937 random(4711);
  for (int round = 0; round < 2000; ++round) {
    const Task task = random_task(random);
    const Doubles by_value = equal(task), by_rank = ordered(task), by_tree = hierarchical(task);
    CHECK_EQ(by_value.size(), task.classes());
    for (std::size_t i = 0; i < task.classes(); ++i) {
      const auto extra = extras(task, i);
      check_near(by_value[i], obvious_equal(extra));
      check_near(by_rank[i], obvious_ordered(extra));
      check_near(by_tree[i], obvious_hierarchical(extra, task.maps));
    }
  }
}

void random_counts() {
  std::mt19937 random(815);
  for (int round = 0; round < 1000; ++round) {
    const Task task = random_task(random);
    const std::size_t places = random() % 12;
    const auto tops = kohorte::top_counts(task.starts, task.counts, static_cast<std::int64_t>(places));
    const Doubles entropy = kohorte::entropies(task.starts, task.counts);
    for (std::size_t i = 0; i < task.classes(); ++i) {
      std::vector<Count> own(task.counts.begin() + task.starts[i], task.counts.begin() + task.starts[i + 1]);
      std::sort(own.begin(), own.end(), std::greater<>());
      const auto stop = own.begin() + static_cast<std::ptrdiff_t>(std::min(places, own.size()));
      CHECK_EQ(tops.largest[i], own.front());
      CHECK_EQ(tops.sums[i], std::accumulate(own.begin(), stop, Count{0}));
      const auto rows = static_cast<double>(std::accumulate(own.begin(), own.end(), Count{0}));
      double wanted = 0.0;
      for (Count count : own) wanted -= static_cast<double>(count) / rows * std::log(static_cast<double>(count) / rows);
      CHECK(entropy[i] >= 0.0 && std::abs(entropy[i] - wanted) < 1e-11);
    }
  }
}

void sorted_cells() {
  const auto sorted = kohorte::sort_cells(std::vector<Code>{2, 0, 2, 0, 3}, 5);
  CHECK((sorted.starts == std::vector<std::int64_t>{0, 2, 2, 4, 5, 5}));
  CHECK((sorted.order == std::vector<Code>{1, 3, 0, 2, 4}));
  CHECK(kohorte::sort_cells({}, 0).starts == std::vector<std::int64_t>{0});
}

// The largest numbers that are let in: a fifth is a fifth.
void exact_fractions() {
  for (Count scale : {Count{1}, Count{30'000}, Count{1'000'000'007}, kohorte::histogram::kMostRows / 10}) {
    const Task task{{0, 2}, {1, 0}, {4 * scale, 6 * scale}, {4 * scale, 6 * scale}, {{0, 1}, {0, 0}}};
    CHECK(equal(task) == Doubles{0.2});
    CHECK(ordered(task) == Doubles{0.2});
    CHECK(hierarchical(task) == Doubles{0.2});
  }
  using kohorte::histogram::Magnitude;
  for (unsigned shift : {0U, 40U, 60U, 90U, 120U}) {
    CHECK_EQ(kohorte::histogram::long_ratio(Magnitude{3} << shift, Magnitude{10} << shift), 0.3);
    CHECK_EQ(kohorte::histogram::long_ratio(Magnitude{1} << shift, Magnitude{1} << shift), 1.0);
    CHECK_EQ(kohorte::histogram::long_ratio(1, Magnitude{1} << shift), std::ldexp(1.0, -static_cast<int>(shift)));
  }
  const Magnitude whole = Magnitude{1} << 80U, half = Magnitude{1} << 26U;  // half a unit in the last place of 0.5
  CHECK_EQ(kohorte::histogram::long_ratio((whole >> 1U) + half, whole), 0.5);
  CHECK_EQ(kohorte::histogram::long_ratio((whole >> 1U) + half + 1, whole), std::nextafter(0.5, 1.0));
}

void threads_share_a_tree() {
  std::mt19937 random(3);
  Task task = random_task(random);
  while (task.classes() == 0 || task.maps.size() < 3) task = random_task(random);
  const Tree tree = tree_of(task);
  const Doubles alone = tree.distances(task.starts, task.values, task.counts);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int again = 0; again < 200; ++again) CHECK(tree.distances(task.starts, task.values, task.counts) == alone);
    });
  }
  for (auto& thread : threads) thread.join();
}

bool all_refuse(const Task& task) {
  return refuses([&] { equal(task); }) && refuses([&] { ordered(task); }) && refuses([&] { hierarchical(task); });
}

void bad_input() {
  const Task sound{{0, 2, 3}, {0, 2, 1}, {1, 1, 2}, {3, 2, 1}, {{0, 1, 2}, {0, 0, 1}, {0, 0, 0}}};
  const auto changed = [&](auto change) {
    Task task = sound;
    change(task);
    return task;
  };
  CHECK(!refuses([&] { equal(sound), ordered(sound), hierarchical(sound); }));
  CHECK(all_refuse(changed([](Task& task) { task.starts = {}; })));
  CHECK(all_refuse(changed([](Task& task) { task.starts = {0, 2, 4}; })));
  CHECK(all_refuse(changed([](Task& task) { task.starts = {0, 5, 3}; })));
  CHECK(all_refuse(changed([](Task& task) { task.starts = {0, 0, 3}; })));
  CHECK(all_refuse(changed([](Task& task) { task.starts = {0, -1, 3}; })));
  CHECK(all_refuse(changed([](Task& task) { task.counts[1] = 0; })));
  CHECK(all_refuse(changed([](Task& task) { task.counts[1] = std::numeric_limits<Count>::min(); })));
  CHECK(all_refuse(changed([](Task& task) { task.counts = {Count{1} << 62, Count{1} << 62, 1}; })));
  CHECK(all_refuse(changed([](Task& task) { task.values[1] = 3; })));
  CHECK(all_refuse(changed([](Task& task) { task.values[1] = 0; })));
  CHECK(all_refuse(changed([](Task& task) { task.values.pop_back(); })));
  CHECK(all_refuse(changed([](Task& task) { task.overall[0] = -1; })));
  CHECK(all_refuse(changed([](Task& task) { task.overall[0] = kohorte::histogram::kMostRows; })));
  CHECK(all_refuse(changed([](Task& task) { task.overall = {0, 0, 0}; })));
  CHECK(refuses([&] { hierarchical(changed([](Task& task) { task.maps = {}; })); }));
  CHECK(refuses([&] { hierarchical(changed([](Task& task) { task.maps[2].pop_back(); })); }));
  CHECK(refuses([&] { hierarchical(changed([](Task& task) { task.maps[0][1] = 0; })); }));
  CHECK(refuses([&] { hierarchical(changed([](Task& task) { task.maps[2] = {0, 1, 1}; })); }));
  CHECK(refuses([&] { kohorte::top_counts(sound.starts, sound.counts, -1); }));
  CHECK(refuses([&] { kohorte::top_counts(std::vector<std::int64_t>{0, 9}, sound.counts, 1); }));
  CHECK(refuses([&] { kohorte::entropies(std::vector<std::int64_t>{0, 9}, sound.counts); }));
  CHECK(refuses([&] { kohorte::sort_cells(sound.values, 2); }));
  CHECK(refuses([&] { kohorte::sort_cells(sound.values, -1); }));
}

}  // namespace

int main() {
  random_distances();
  random_counts();
  sorted_cells();
  exact_fractions();
  threads_share_a_tree();
  bad_input();
  return 0;
}
