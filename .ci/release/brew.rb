# Stands in for Homebrew: reads a formula, takes the archive that it names for a system and a machine, installs it into a cellar
# and, where this machine can run it, runs the formula's own test.
#
#   ruby brew.rb FORMULA ARCHIVE CELLAR
#
# It holds the formula to the rules of brew audit that apply: order and form of desc, homepage, license, url, sha256 and test.
require "digest"
require "fileutils"
require "pathname"
require "tmpdir"

formula, archive, cellar = ARGV
_, SYSTEM, MACHINE = File.basename(archive, ".tar.gz").match(/_(darwin|linux)_(amd64|arm64)\z/).to_a
def refuse(what) = abort("brew: #{what}")

module OS
  def self.mac? = SYSTEM == "darwin"
end

# Into is a directory of the cellar, as a formula's install has it.
class Into < Pathname
  def install(*files)
    mkpath
    found = files.flatten.map(&:to_s)
    refuse("#{self} gets nothing") if found.empty?
    found.each { |file| File.exist?(file) ? FileUtils.mv(file, self) : refuse("#{file} is not in the archive") }
  end
end

class Formula
  class << self
    attr_reader :said, :check

    %i[desc homepage version license url sha256].each do |name|
      define_method(name) { |value| ((@said ||= []) << [name, value]) }
    end
    def on_macos = (yield if SYSTEM == "darwin")
    def on_linux = (yield if SYSTEM == "linux")
    def on_arm = (yield if MACHINE == "arm64")
    def on_intel = (yield if MACHINE == "amd64")
    def test(&block) = @check = block
  end
  attr_accessor :prefix, :testpath

  { bin: "bin", man1: "share/man/man1", doc: "share/doc/remit", bash_completion: "etc/bash_completion.d",
    zsh_completion: "share/zsh/site-functions", fish_completion: "share/fish/vendor_completions.d" }.each do |name, place|
    define_method(name) { Into.new(File.join(prefix, place)) }
  end
  def cp_r(*paths) = FileUtils.cp_r(*paths)
  def assert_match(pattern, text) = pattern.match?(text) || refuse("the formula's test: no #{pattern.inspect} in #{text}")

  def shell_output(command)
    text = `#{command}`
    $?.success? ? text : refuse("#{command}: #{text}")
  end
end

load formula
said = Remit.said.to_h
refuse("each is said once") unless said.length == Remit.said.length
order = %i[desc homepage version license url sha256]
refuse("#{Remit.said.map(&:first)} is not #{order}") unless Remit.said.map(&:first) == order
refuse("desc") unless said[:desc].length <= 80 && said[:desc].match?(/\A[A-Z][a-z]+ .*[a-z]\z/) && !said[:desc].match?(/\A(An?|The|Remit)\b/)
refuse("homepage") unless said[:homepage].match?(%r{\Ahttps://[^ ]+\z})
refuse("version") unless said[:version].match?(/\A\d+\.\d+\.\d+[-\w.]*\z/)
refuse("license") unless said[:license] == "Apache-2.0"
refuse("url") unless said[:url] == "#{said[:homepage]}/#{File.basename(archive)}"
refuse("sha256") unless said[:sha256] == Digest::SHA256.file(archive).hexdigest
refuse("test") unless Remit.check

made = Remit.new
made.prefix = File.join(cellar, "remit", said[:version])
archive = File.expand_path(archive)
Dir.mktmpdir do |dir|
  Dir.chdir(dir) do
    system("tar", "-xzf", archive, exception: true)
    made.install
  end
end
refuse("no program") unless File.executable?(made.bin/"remit")
%w[share/man/man1/remit.1.gz share/doc/remit/copyright share/zsh/site-functions/_remit].each do |file|
  refuse("no #{file}") unless File.exist?(File.join(made.prefix, file))
end
if SYSTEM == "linux" && MACHINE == (RUBY_PLATFORM.start_with?("aarch64") ? "arm64" : "amd64")
  Dir.mktmpdir do |dir|
    made.testpath = dir
    Dir.chdir(dir) { made.instance_eval(&Remit.check) }
  end
end
FileUtils.rm_r(made.prefix) # what brew uninstall does
