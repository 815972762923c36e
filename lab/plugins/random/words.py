"""Words of pet names: adverbs, an adjective and an animal."""
# ruff: noqa: SIM905  one word a line would be six hundred lines

ADVERBS = tuple(
    """
    absolutely actually barely briefly calmly carefully clearly closely commonly daily deeply easily
    equally evenly exactly fairly finally firmly freely freshly fully generally gently gladly
    greatly happily highly honestly hugely jointly justly keenly kindly largely lately lightly
    likely loosely mainly mildly mostly nearly neatly newly nicely openly partly plainly promptly
    purely quickly quietly rapidly rarely readily really rightly safely sharply simply slowly
    smoothly softly solidly steadily strongly suddenly surely swiftly truly usually warmly wholly
    widely wisely
    """.split()
)
ADJECTIVES = tuple(
    """
    agile amber ample apt bold brave brief bright brisk calm candid civil clean clear clever close
    cosmic crisp curious daring deep deft eager early easy exact fair fancy fast fine firm fleet
    fond frank free fresh full gentle glad good grand great happy hardy hearty honest humble ideal
    jolly just keen kind large lasting light live loyal lucid lucky mellow merry mild modest neat
    new nimble noble open patient pleased polite prime prompt proper proud pure quick quiet ready
    regular rested rich right robust safe sharp shining simple sincere smart smooth solid sound
    square stable steady sterling strong subtle sunny sure sweet swift tidy true trusty upright
    valid vast vital vivid warm well whole wide willing wise witty worthy young
    """.split()
)
ANIMALS = tuple(
    """
    albatross antelope badger bat bear beaver bee beetle bison boar bobcat buffalo camel caribou cat
    cheetah chipmunk cobra cod condor cow crab crane cricket crow deer dingo dog dolphin donkey dove
    duck eagle eel egret elephant elk falcon ferret finch fox frog gazelle gecko gibbon giraffe goat
    goose gopher grouse gull hamster hare hawk hen heron herring hippo horse hound ibex ibis iguana
    impala jackal jaguar jay kangaroo kestrel kite kiwi koala lark lemur leopard lion lizard llama
    lobster lynx macaw magpie mallard mammoth marlin marmot marten mink mole moose moth mouse mule
    newt ocelot octopus orca osprey otter owl ox oyster panda panther parrot pelican penguin
    pheasant pig pigeon pony possum puffin puma python quail rabbit raccoon ram raven rhino robin
    salmon seal shark sheep shrew shrimp skunk sloth snail snake sparrow spider squid stag starling
    stork swan swift tapir terrapin tiger toad toucan trout tuna turkey turtle viper vulture walrus
    wasp weasel whale wolf wombat yak zebra
    """.split()
)
